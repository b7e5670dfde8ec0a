"""Finishes what died: Dagster runs, then runs of the platform, then what Dagster was not told.

A run whose workers died, and on which nothing else is wrong, is asked for again from the chunk that
they left; not more often than its chunks may be tried, and not where somebody stopped it.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime

import dagster as dg

from backfill_platform.domain.identity import RunId
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.recover.recovering import Recovery, recover_each
from backfill_platform.engine.watch.abandoned import find_unsettled, may_go_on
from backfill_platform.orchestration.keys import staging_key
from backfill_platform.orchestration.sensors.dead_runs import end_dead_runs
from backfill_platform.orchestration.sensors.launched import (
    MOST_ATTEMPTS,
    find_launched,
    is_group_at_work,
)
from backfill_platform.orchestration.sensors.looks import Answer
from backfill_platform.orchestration.sensors.requests import requests_of
from backfill_platform.orchestration.sensors.telling import (
    Untold,
    find_untold,
    tell_some,
    untold_from_the_start,
)

NAME = "recover_what_died"
EVERY_SECONDS = 60
AT_ONCE = 20  # runs that are looked at in one tick, of each sort


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Until when runs that came to rest were looked at, and what Dagster is still to be told."""

    looked_until: datetime | None = None
    untold: tuple[Untold, ...] = ()


def look_for_dead(platform: Platform, instance: dg.DagsterInstance, cursor: str | None) -> Answer:
    """A lost cursor looks a day back."""
    place = read_place(cursor)
    dead = end_dead_runs(instance)
    unsettled = find_unsettled(platform, place.looked_until, limit=AT_ONCE)
    moving = (one for one in unsettled.moving if not _is_at_work(platform, instance, one))
    found = recover_each(platform, (*unsettled.abandoned, *moving, *unsettled.resting))
    untold = (
        *place.untold,
        *(
            more
            for one in found
            if one.remedies
            for more in untold_from_the_start(platform, one.run_id)
        ),
        *find_untold(platform, instance, unsettled.resting),
    )
    left = tell_some(platform, instance, tuple(dict.fromkeys(untold)))
    return Answer(
        said=_sentence(dead, found),
        requests=_ask_again(platform, instance, (one.run_id for one in found)),
        cursor=write_place(Place(looked_until=unsettled.looked_until, untold=left)),
    )


def read_place(cursor: str | None) -> Place:
    """One that cannot be read is as good as lost."""
    try:
        told = json.loads(cursor or "{}")
        return Place(
            looked_until=datetime.fromisoformat(told["looked_until"]).astimezone(UTC),
            untold=tuple(
                Untold(run_id=RunId(run_id), first_day=date.fromisoformat(day))
                for run_id, day in told["untold"]
            ),
        )
    except (KeyError, TypeError, ValueError):
        return Place()


def write_place(place: Place) -> str:
    return json.dumps(
        {
            "looked_until": place.looked_until.isoformat() if place.looked_until else None,
            "untold": [[one.run_id, one.first_day.isoformat()] for one in place.untold],
        }
    )


def _is_at_work(platform: Platform, instance: dg.DagsterInstance, run_id: RunId) -> bool:
    """What is queued will go on with the run, so it has not failed yet."""
    return find_launched(instance, run_id, platform.ledger.run(run_id).table).is_at_work


def _ask_again(
    platform: Platform, instance: dg.DagsterInstance, run_ids: Iterable[RunId]
) -> tuple[dg.RunRequest, ...]:
    return tuple(request for run_id in run_ids for request in _ask_for(platform, instance, run_id))


def _ask_for(
    platform: Platform, instance: dg.DagsterInstance, run_id: RunId
) -> list[dg.RunRequest]:
    record = platform.ledger.run(run_id)
    spec = platform.catalog.tables.get(record.table)
    if spec is None or not may_go_on(record.state, platform.ledger.chunks(run_id)):
        return []
    launched = find_launched(instance, run_id, record.table)
    if launched.is_at_work or launched.is_cancelled or is_group_at_work(instance, record.group_id):
        return []
    ended = launched.ended(staging_key(spec))
    if ended >= MOST_ATTEMPTS:
        return []
    return requests_of(platform, run_id, publishes=False, ended=ended)


def _sentence(dead: tuple[str, ...], found: tuple[Recovery, ...]) -> str:
    told = [f"Dagster run {run_id} has no process any more." for run_id in dead]
    for one in found:
        told += [f"{one.run_id}: {remedy}." for remedy in one.remedies]
        told += [f"{one.run_id} is left alone: {why}." for why in one.left_alone]
        told += [f"{one.run_id} could not be recovered: {one.problem}."] if one.problem else []
    return " ".join(told) or "Nothing was left half done."
