"""Begins planned runs that came from a sensor and that nobody has launched yet: staging first.

Publication is asked for by another sensor, once they are judged and agreed to. A plan that waits
for consent before it is computed is begun when it is approved; one that a person planned is begun
by that person.
"""

from dataclasses import dataclass

import dagster as dg

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.runs import RunRecord
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration.keys import staging_key
from backfill_platform.orchestration.sensors.launched import MOST_ATTEMPTS, find_launched
from backfill_platform.orchestration.sensors.requests import requests_of

_READY = frozenset({RunState.PLANNED, RunState.APPROVED})
_LIMIT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    requests: tuple[dg.RunRequest, ...]
    left_alone: tuple[str, ...]  # why some are not begun again, as sentences


def begin_planned(platform: Platform, instance: dg.DagsterInstance, launched_as: str) -> Begun:
    """Of runs whose origin begins so; a plan whose term is over is not begun any more."""
    requests: list[dg.RunRequest] = []
    left_alone: list[str] = []
    now = platform.clock()
    for record in platform.ledger.runs_at(_READY, launched_as=launched_as, limit=_LIMIT):
        is_over = record.valid_until is not None and record.valid_until <= now
        if is_over or record.table not in platform.catalog.tables:
            continue
        ended = _ended(platform, instance, record)
        if ended is None:
            continue
        if ended >= MOST_ATTEMPTS:
            left_alone.append(_left_to_somebody(record, ended))
            continue
        requests += requests_of(platform, record.run_id, publishes=False, ended=ended)
    return Begun(requests=tuple(requests), left_alone=tuple(left_alone))


def _ended(platform: Platform, instance: dg.DagsterInstance, record: RunRecord) -> int | None:
    """Nothing where a launch is under way, or where somebody has stopped it."""
    launched = find_launched(instance, record.run_id, record.table)
    if launched.is_at_work or launched.is_cancelled:
        return None
    return launched.ended(staging_key(platform.catalog.tables[record.table]))


def _left_to_somebody(record: RunRecord, ended: int) -> str:
    return (
        f"{record.run_id} could not be begun {ended} times and is left to somebody: "
        f"`backfill status {record.run_id}`."
    )
