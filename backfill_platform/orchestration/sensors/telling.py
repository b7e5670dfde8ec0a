"""Tells Dagster what it was not told of runs that died, some days at a time.

A Dagster run that succeeds has told everything itself. So only of the others anything is looked up:
what was recovered, and what came to rest with no Dagster run, or with one that ended otherwise.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

import dagster as dg

from backfill_platform.domain.identity import RunId
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration.check_following import follow_checks
from backfill_platform.orchestration.following import follow
from backfill_platform.orchestration.sensors.launched import find_launched

DAYS_AT_ONCE = 50  # a day is an event for itself and for each of its gates


@dataclass(frozen=True, slots=True, kw_only=True)
class Untold:
    """A run, and from which of its days on Dagster is still to be told."""

    run_id: RunId
    first_day: date


def find_untold(
    platform: Platform, instance: dg.DagsterInstance, run_ids: Iterable[RunId]
) -> tuple[Untold, ...]:
    """Of runs that came to rest: those whose Dagster runs may have died before they told it."""
    return tuple(
        one
        for run_id in run_ids
        if not _has_told_itself(platform, instance, run_id)
        for one in untold_from_the_start(platform, run_id)
    )


def untold_from_the_start(platform: Platform, run_id: RunId) -> tuple[Untold, ...]:
    record = platform.ledger.run(run_id)
    if record.days is None or record.table not in platform.catalog.tables:
        return ()
    return (Untold(run_id=run_id, first_day=record.days.span.start),)


def tell_some(
    platform: Platform, instance: dg.DagsterInstance, untold: tuple[Untold, ...]
) -> tuple[Untold, ...]:
    """Some days of the first of them; returns what is left."""
    if not untold:
        return ()
    first, *others = untold
    record = platform.ledger.run(first.run_id)
    left = [day for day in record.days or () if day >= first.first_day]
    now, later = left[:DAYS_AT_ONCE], left[DAYS_AT_ONCE:]
    follow(instance, platform, record.table, now)
    follow_checks(instance, platform, record.table, now)
    rest = [Untold(run_id=first.run_id, first_day=later[0])] if later else []
    return (*rest, *others)


def _has_told_itself(platform: Platform, instance: dg.DagsterInstance, run_id: RunId) -> bool:
    launched = find_launched(instance, run_id, platform.ledger.run(run_id).table)
    return bool(launched.runs) and all(run.is_success for run in launched.runs)
