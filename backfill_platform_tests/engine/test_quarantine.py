"""Rows that a transform sets aside are kept, counted and never published: on real Spark."""

from dataclasses import replace

import pytest
from pyspark.sql import functions as F

from backfill_platform.domain.errors import ContractBroken
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.verdicts import Gate
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.executor.quarantine import RejectRules, rows_to_set_aside, write_rejects
from backfill_platform_tests.aside import CAREFUL, GUARDED, NEGATIVE
from backfill_platform_tests.delta_reader import read_table
from backfill_platform_tests.modes import forget
from backfill_platform_tests.readings import land, week

DAYS = week(days=2)
FIRST, SECOND = DAYS
RULES = RejectRules(partition_column="day", kept_columns=None, protection=Protection())


@pytest.fixture
def declared():
    return "backfill_platform_tests.aside:DECLARATIONS"


@pytest.fixture
def opened(platform, intent):
    """One of two rows cannot be read on the first day, and neither of two on the second."""
    land(platform.landing, [FIRST], [("a", 1), ("b", -5)])
    land(platform.landing, [SECOND], [("a", -1), ("b", -5)])
    return open_run(platform, intent(CAREFUL, DAYS, "careful"))


def kept(platform, manifest):
    return read_table(platform.warehouse.rejects_path(manifest.target.table, manifest.run_id))


def verdict(chunk, gate, day):
    (found,) = (one for one in chunk.verdicts if (one.gate, one.day) == (gate, day))
    return found


def test_rows_that_are_set_aside_are_kept_with_reason_and_origin(platform, spark, opened):
    stage_chunk(platform, spark, opened.run_id, DAYS)
    origin = {
        "reject_reason": NEGATIVE,
        "produced_by_run_id": opened.run_id,
        "transform_version": "read-careful/1.0.0",
        "input_snapshot": opened.input_snapshot,
    }
    assert sorted(kept(platform, opened), key=lambda row: (row["day"], row["meter"])) == [
        {"day": day, "meter": meter, "amount": amount, "read": read, **origin}
        for day, meter, amount, read in (
            (FIRST, "b", -5, '{"meter":"b","amount":-5}'),
            (SECOND, "a", -1, '{"meter":"a","amount":-1}'),
            (SECOND, "b", -5, '{"meter":"b","amount":-5}'),
        )
    ]
    staged = read_table(platform.warehouse.staging_path(CAREFUL, opened.run_id))
    assert [(row["day"], row["meter"]) for row in staged] == [(FIRST, "a")]


def test_a_day_of_which_every_row_was_set_aside_keeps_its_count(platform, spark, opened):
    chunk = stage_chunk(platform, spark, opened.run_id, DAYS)
    assert {one.day: (one.row_count, one.rejected) for one in chunk.staged} == {
        FIRST: (1, {NEGATIVE: 1}),
        SECOND: (0, {NEGATIVE: 2}),
    }
    assert verdict(chunk, Gate.REJECTS_BOUNDED, FIRST).has_passed
    assert verdict(chunk, Gate.REJECTS_BOUNDED, SECOND).is_refusal


class DyingLedger:
    """A ledger that is lost between writing and recording what was staged."""

    def __init__(self, ledger) -> None:
        self._ledger = ledger

    def __getattr__(self, name):
        return getattr(self._ledger, name)

    def finish_chunk_staging(self, *_given, **_named):
        raise ConnectionError("the ledger is gone")


def test_a_chunk_that_is_staged_again_keeps_no_row_twice(platform, spark, opened):
    dying = replace(platform, ledger=DyingLedger(platform.ledger))
    with pytest.raises(ConnectionError):
        stage_chunk(dying, spark, opened.run_id, DAYS)
    stage_chunk(platform, spark, opened.run_id, DAYS)
    assert len(kept(platform, opened)) == 3


def test_what_is_set_aside_shows_nothing_that_the_table_hides(platform, spark, intent):
    forget(platform.landing, "a")
    land(platform.landing, DAYS, [("a", -1), (" a\n", -2), ("", -3), ("b", -4), ("c", 1)])
    manifest = open_run(platform, intent(GUARDED, DAYS, "guarded"))
    stage_chunk(platform, spark, manifest.run_id, DAYS)
    rows = kept(platform, manifest)
    assert {"phone", "line"}.isdisjoint(rows[0])
    assert {(row["meter"], row["amount"]) for row in rows} == {("", None), ("b", -4)}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda rows: rows.drop("reject_reason"), "column 'reject_reason' is missing"),
        (lambda rows: rows.withColumn("reject_reason", F.lit(1)), "column 'reject_reason' is int"),
        (lambda rows: rows.withColumn("day", F.lit("monday")), "column 'day' is string"),
        (lambda rows: rows.withColumn("the meter", F.lit(1)), "'the meter' cannot be written"),
    ],
)
def test_rejects_that_cannot_be_kept_are_refused(spark, opened, change, problem):
    rejects = spark.sql("SELECT DATE'2025-01-01' AS day, 'x' AS reject_reason")
    with pytest.raises(ContractBroken, match=problem):
        rows_to_set_aside(change(rejects), opened, RULES)


def test_rejects_of_another_day_are_refused(spark, opened, tmp_path):
    rejects = spark.sql("SELECT DATE'2024-01-01' AS day, 'x' AS reject_reason")
    rows = rows_to_set_aside(rejects, opened, RULES)
    with pytest.raises(ContractBroken, match="rows aside that lie outside"):
        write_rejects(
            rows, manifest=opened, days=DAYS, partition_column="day", path=tmp_path / "rejects"
        )
