"""The same days, planned with each meaning of reference data: four answers, and all are right.

Each plan says what its calendar shall stand for, as on the command line, and the planner finds the
edition; only the corrected truth has to be named.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from backfill_platform.cli.plan_options import parse_reference
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.modes import ReferenceSemantics as S
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.enforcement.bronze import CASE_EVENTS
from backfill_platform.enforcement.jurisdiction_calendar import load_calendar
from backfill_platform.enforcement.landing.files import land_days
from backfill_platform.enforcement.reference.editions import (
    AS_RECORDED_IN_JANUARY,
    AS_RECORDED_IN_JUNE,
    RESTATED,
    STANDARDIZED,
    calendar_path,
)
from backfill_platform.enforcement.silver import CASE_SLA_DAILY
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform_tests.enforcement.oracle import Oracle
from backfill_platform_tests.enforcement.running import ARRIVALS, deliveries, rows_of

BRONZE, SILVER = CASE_EVENTS.full_name, CASE_SLA_DAILY.full_name
DAYS = DayRange(date(2025, 1, 16), date(2025, 1, 19))
KEY = ("business_date", "case_id")
IN_JULY_2025 = datetime(2025, 7, 10, 9, tzinfo=UTC)
IN_NOVEMBER_2026 = datetime(2026, 11, 2, 9, tzinfo=UTC)

ASKED = {
    S.AS_RECORDED_THEN: "jurisdiction_calendar=:AS_RECORDED_THEN",
    S.AS_USED_BY_ORIGINAL: "jurisdiction_calendar=:AS_USED_BY_ORIGINAL",
    S.CORRECTED_TRUTH: f"jurisdiction_calendar={RESTATED}:CORRECTED_TRUTH",
    S.CURRENT: "jurisdiction_calendar=:CURRENT",
}
EDITIONS = {
    S.AS_RECORDED_THEN: AS_RECORDED_IN_JANUARY,
    S.AS_USED_BY_ORIGINAL: AS_RECORDED_IN_JUNE,
    S.CORRECTED_TRUTH: RESTATED,
    S.CURRENT: STANDARDIZED,
}


@pytest.fixture
def declared() -> str:
    return "backfill_platform.enforcement.catalog:CATALOG"


@pytest.fixture
def stage(platform, spark):
    """Plans at a moment, from which its clock goes on, and stages all days as one chunk."""

    def staged(moment: datetime, table: str, days: DayRange, **said: Any) -> Manifest:
        began = platform.clock()
        then = replace(platform, clock=lambda: moment + (platform.clock() - began))
        manifest = open_run(then, make_intent(table, days, **said))
        stage_chunk(then, spark, manifest.run_id, days)
        return manifest

    return staged


@pytest.fixture
def loaded(platform, stage):
    """The events of eleven weeks, and the days as they were computed first, in July 2025."""
    land_days(platform.landing, ARRIVALS, seed=11, events_per_day=400)
    events = stage(IN_JULY_2025, BRONZE, ARRIVALS)
    publish_chunk(platform, events.run_id, ARRIVALS)
    original = stage(IN_JULY_2025, SILVER, DAYS, calendar=ASKED[S.CURRENT], version="2.4.1")
    publish_chunk(platform, original.run_id, DAYS)


def make_intent(
    table: str,
    days: DayRange,
    *,
    calendar: str = "",
    version: str | None = None,
    mode: ExecutionMode = ExecutionMode.BACKFILL,
) -> Intent:
    origin = f"{table}-{calendar}-{version}"
    return Intent(
        table=table,
        days=PartitionSet.of_range(days),
        kind=RunKind.BACKFILL,
        mode=mode,
        knowledge=Knowledge.UP_TO_SNAPSHOT,
        reason="one question, four meanings",
        requested_by="tests",
        origin=origin,
        group_id=origin,
        transform_version=version,
        references=dict([parse_reference(calendar)] if calendar else ()),
    )


def answer(rows: Iterable[dict[str, Any]]) -> frozenset[tuple[Any, ...]]:
    return frozenset(
        (*(row[name] for name in KEY), row["due_at"], row["is_breached"]) for row in rows
    )


def breaches(rows: frozenset[tuple[Any, ...]]) -> frozenset[tuple[Any, ...]]:
    return frozenset((day, case) for day, case, _, is_breached in rows if is_breached)


@pytest.mark.usefixtures("loaded")
def test_four_meanings_of_the_calendar_give_four_answers(platform, spark, stage):
    manifests = {
        meaning: stage(IN_NOVEMBER_2026, SILVER, DAYS, calendar=said, mode=ExecutionMode.DRY_RUN)
        for meaning, said in ASKED.items()
    }

    assert {
        meaning: (use.version, use.semantics)
        for meaning, manifest in manifests.items()
        for use in manifest.references
    } == {meaning: (edition, meaning) for meaning, edition in EDITIONS.items()}
    found = {
        meaning: answer(rows_of(read(platform, spark, manifest), *KEY))
        for meaning, manifest in manifests.items()
    }
    events = deliveries(spark.read.format("delta").load(str(platform.warehouse.table_path(BRONZE))))
    assert found == {
        meaning: answer(oracle(edition).rows(events, DAYS)) for meaning, edition in EDITIONS.items()
    }
    assert len(set(found.values())) == len({breaches(rows) for rows in found.values()}) == 4


def read(platform, spark, manifest: Manifest):
    staging = platform.warehouse.staging_path(SILVER, manifest.run_id)
    return spark.read.format("delta").load(str(staging))


def oracle(edition: str) -> Oracle:
    calendar = load_calendar(calendar_path(edition))
    return Oracle(calendar=calendar, reckons_in_utc=False, before_days=45, after_days=30)
