"""Corrections walk the road of every table, beside an original that is never written."""

import json

import pytest
from deltalake import DeltaTable

from backfill_platform.corrections.effective import apply_corrections
from backfill_platform.corrections.events import correction_event
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform_tests.modes import TOTALS, TOTALS_CORRECTIONS
from backfill_platform_tests.readings import BRONZE, week

DAYS = week()
TWO = DayRange(DAYS.start.replace(day=3), DAYS.start.replace(day=5))
ONE = DayRange(TWO.start, TWO.last)
RESTATED = {"transform_version": "2.0.0", "kind": RunKind.RESTATEMENT, "reason": "FACTOR_BUG"}


@pytest.fixture
def declared():
    return "backfill_platform_tests.modes:DECLARATIONS"


@pytest.fixture
def stage(platform, spark, intent):
    def staged(table, days, origin, **changes):
        manifest = open_run(platform, intent(table, days, origin, **changes))
        chunk = stage_chunk(platform, spark, manifest.run_id, days)
        assert chunk.has_passed, [one.message for one in chunk.verdicts if not one.has_passed]
        return manifest

    return staged


@pytest.fixture
def run(platform, stage):
    def published(table, days, origin, **changes):
        manifest = stage(table, days, origin, **changes)
        publish_chunk(platform, manifest.run_id, days)
        return manifest

    return published


@pytest.fixture
def original(run):
    """Totals of two days by the first version: 3 of meter a and 6 of meter b."""
    run(BRONZE, DAYS, "load")
    return run(TOTALS, TWO, "totals")


@pytest.fixture
def table(platform, spark):
    def read(name):
        return spark.read.format("delta").load(str(platform.warehouse.table_path(name)))

    return read


@pytest.fixture
def seen(platform, table):
    """Day, meter and total as whoever applies the corrections sees them."""

    def read():
        spec = platform.catalog.tables[TOTALS]
        rows = apply_corrections(spec, table(TOTALS), table(TOTALS_CORRECTIONS))
        return sorted(tuple(row) for row in rows.select("day", "meter", "total").collect())

    return read


def totals(a, b, days=TWO):
    return [(day, meter, total) for day in days for meter, total in (("a", a), ("b", b))]


def test_corrections_are_published_beside_an_original_that_stays(
    platform, original, run, table, seen
):
    before = DeltaTable(platform.warehouse.table_path(TOTALS)).version()
    correcting = run(TOTALS_CORRECTIONS, TWO, "restated", **RESTATED)
    assert DeltaTable(platform.warehouse.table_path(TOTALS)).version() == before
    assert seen() == totals(6, 12)
    rows = table(TOTALS_CORRECTIONS).where(f"day = '{TWO.start}' AND new_values LIKE '%12%'")
    (told,) = rows.collect()
    event = correction_event(told.asDict())
    assert dict(event.headers)["x-run-id"] == correcting.run_id.encode()
    assert json.loads(event.value) == {
        "eventType": "TotalsCorrected",
        "eventId": told["correction_id"],
        "table": TOTALS,
        "key": {"day": str(TWO.start), "meter": "b"},
        "change": "CHANGED",
        "correctionNumber": 1,
        "correctsEventId": None,
        "correctsRunId": original.run_id,
        "oldValues": {"total": "6"},
        "newValues": {"total": "12"},
        "reason": "FACTOR_BUG",
        "producedByRunId": correcting.run_id,
    }


def test_earlier_corrections_of_a_day_stay_and_are_corrected_in_turn(original, run, table, seen):
    first = run(TOTALS_CORRECTIONS, TWO, "restated", **RESTATED)
    second = run(TOTALS_CORRECTIONS, ONE, "taken back")
    assert seen() == [*totals(3, 6, ONE), *totals(6, 12, DayRange(TWO.last, TWO.end_exclusive))]
    told = (
        table(TOTALS_CORRECTIONS)
        .where("corrects_key LIKE '%\"a\"%'")
        .orderBy("day", "correction_number")
    )
    assert [
        (row["day"], row["correction_number"], row["produced_by_run_id"], row["corrects_run_id"])
        for row in told.collect()
    ] == [
        (TWO.start, 1, first.run_id, original.run_id),
        (TWO.start, 2, second.run_id, first.run_id),
        (TWO.last, 1, first.run_id, original.run_id),
    ]


def test_where_nothing_is_to_be_corrected_the_days_are_empty_and_the_run_ends_published(
    platform, original, run, table
):
    manifest = run(TOTALS_CORRECTIONS, TWO, "nothing")
    assert platform.ledger.run(manifest.run_id).state.value == "PUBLISHED"
    assert table(TOTALS_CORRECTIONS).count() == 0


def test_days_that_the_original_does_not_hold_are_not_corrected(platform, intent):
    with pytest.raises(PlanRefused, match=r"input silver\.totals holds nothing for 7 of the 7"):
        open_run(platform, intent(TOTALS_CORRECTIONS, DAYS, "all", **RESTATED))
