"""Asks for the publication of what is judged and agreed to, each run in Dagster runs of its own.

It asks and nothing more: the engine looks again at verdicts, reviews and consents when the Dagster
run comes to publish, and refuses what is no longer as it was here.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import dagster as dg

from backfill_platform.engine.platform import Platform
from backfill_platform.engine.watch.ready import Readiness, look_at_publishable
from backfill_platform.orchestration.keys import table_key
from backfill_platform.orchestration.sensors.launched import MOST_ATTEMPTS, find_launched
from backfill_platform.orchestration.sensors.looks import Answer
from backfill_platform.orchestration.sensors.requests import requests_of

NAME = "publish_what_is_ready"
EVERY_SECONDS = 30
AT_ONCE = 10  # runs whose publication is asked for in one tick; the next one goes on

_LOOKED_AT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    requests: tuple[dg.RunRequest, ...]
    left_alone: str = ""


def look_for_ready(platform: Platform, instance: dg.DagsterInstance, cursor: str | None) -> Answer:
    found = look_at_publishable(platform, limit=_LOOKED_AT)
    ready = [one for one in found if one.is_ready]
    asked = [*_ask(platform, instance, ready)]
    requests = tuple(request for one in asked for request in one.requests)
    return Answer(
        said=_sentence(len(found), len(ready), [one.left_alone for one in asked if one.left_alone]),
        requests=requests,
    )


def _ask(
    platform: Platform, instance: dg.DagsterInstance, ready: list[Readiness]
) -> Iterator[_Asked]:
    count = 0
    for one in ready:
        if count == AT_ONCE:
            return
        asked = _ask_for(platform, instance, one)
        count += bool(asked.requests)
        yield asked


def _ask_for(platform: Platform, instance: dg.DagsterInstance, ready: Readiness) -> _Asked:
    launched = find_launched(instance, ready.run_id, ready.table)
    if launched.is_at_work:
        return _Asked(requests=())
    ended = launched.ended(table_key(ready.table))
    if ended >= MOST_ATTEMPTS:
        return _Asked(
            requests=(),
            left_alone=(
                f"{ready.run_id} could not be published {ended} times and is left to somebody: "
                f"`backfill status {ready.run_id}`"
            ),
        )
    requests = requests_of(platform, ready.run_id, publishes=True, stages=False, ended=ended)
    return _Asked(requests=tuple(requests))


def _sentence(judged: int, ready: int, left_alone: list[str]) -> str:
    if not judged:
        return "Nothing is judged and waits for its publication."
    waiting = judged - ready
    said = f"Of {judged} judged runs {waiting} wait for somebody's word, {ready} for publication."
    return " ".join([said, *(f"{one}." for one in left_alone)])
