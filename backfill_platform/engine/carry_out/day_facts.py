"""Adds to what was measured of staged rows what else is known of their days: rows that were set
aside, and the shape of what was landed for them and staged."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.privacy import Protection
from backfill_platform.engine.carry_out.quarantining import count_set_aside
from backfill_platform.engine.carry_out.run_rules import run_rules
from backfill_platform.engine.carry_out.shapes import shape_problems
from backfill_platform.engine.platform import Platform
from backfill_platform.validator.gates.facts import empty_day


def with_day_facts(
    platform: Platform,
    manifest: Manifest,
    days: DayRange,
    measured: Iterable[PartitionMeasurement],
    protection: Protection,
) -> tuple[PartitionMeasurement, ...]:
    """A day without rows has no measurement, unless there is something to tell of it.

    Invariant: what was set aside of a day is counted, also where nothing else is left of it
    (test_a_day_of_which_every_row_was_set_aside_keeps_its_count)."""
    found = {one.day: one for one in measured}
    rejected = count_set_aside(platform, manifest, days)
    problems = shape_problems(platform, manifest, days)
    silent = _empty(platform, manifest, protection, (*rejected, *problems))
    return tuple(
        replace(
            (silent | found)[day],
            rejected=rejected.get(day, {}),
            shape_problems=problems.get(day, ()),
        )
        for day in sorted(silent.keys() | found.keys())
    )


def _empty(
    platform: Platform, manifest: Manifest, protection: Protection, days: Iterable[date]
) -> dict[date, PartitionMeasurement]:
    rules = run_rules(platform, manifest, protection)
    return {day: empty_day(day, rules) for day in days}
