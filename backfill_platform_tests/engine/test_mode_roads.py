"""The road of an append-only and of a merged table, on real Spark and Delta."""

import pytest

from backfill_platform.domain.errors import PlanRefused, TargetMoved
from backfill_platform.domain.modes import ExecutionMode, RunKind
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.verdicts import Gate
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.records import bundle
from backfill_platform_tests.modes import LATEST, ONCE
from backfill_platform_tests.readings import land, week

DAYS = week(days=2)
FIRST = DAYS.start
LIVE = {"kind": RunKind.LIVE, "mode": ExecutionMode.LIVE}

# What lands as 31 is revision 3 of the amount 1; what lands as 30 is its deletion.
FROM_LIVE = [("a", 31), ("b", 12)]
FROM_BACKFILL = [("a", 22), ("b", 20), ("c", 13)]


@pytest.fixture
def declared():
    return "backfill_platform_tests.modes:DECLARATIONS"


@pytest.fixture
def stage(platform, spark, intent):
    """Lands these readings and stages a run over them, as one chunk."""

    def staged(origin, readings, *, table=LATEST, days=DAYS, **changes):
        land(platform.landing, days, readings)
        manifest = open_run(platform, intent(table, days, origin, **changes))
        return stage_chunk(platform, spark, manifest.run_id, days)

    return staged


@pytest.fixture
def run(platform, stage):
    def published(origin, readings, **changes):
        manifest = stage(origin, readings, **changes).manifest
        publish_chunk(platform, manifest.run_id, manifest.target.partitions.span)
        return manifest

    return published


@pytest.fixture
def rows(platform, spark):
    def read(table, *columns):
        path = str(platform.warehouse.table_path(table))
        found = spark.read.format("delta").load(path).where(f"day = '{FIRST}'").select(*columns)
        return sorted(tuple(row) for row in found.collect())

    return read


def merges(platform, run_id):
    records = bundle(platform, run_id).records()
    return [dict(record.body) for record in records if record.kind == "merge"]


def test_a_merged_partition_holds_the_highest_version_of_every_key(platform, run, rows):
    first = run("first", [("a", 11), ("b", 21), ("c", 14)])
    second = run("second", [("a", 20), ("b", 12), ("c", 14), ("d", 15)])
    kept = rows(LATEST, "meter", "amount", "revision", "operation", "produced_by_run_id")
    assert kept == [
        ("a", 0, 2, "DELETE", second.run_id),
        ("b", 1, 2, "UPSERT", first.run_id),
        ("c", 4, 1, "UPSERT", first.run_id),
        ("d", 5, 1, "UPSERT", second.run_id),
    ]
    assert merges(platform, second.run_id) == [
        {
            "days": str(DAYS),
            "applied": 4,
            "deleted": 2,
            "stale": 2,
            "repeated": 2,
            "untouched": 0,
        }
    ]


def test_changes_that_are_known_already_are_not_published_again(platform, run, stage):
    readings = [("a", 20), ("b", 12)]
    run("first", readings)
    again = stage("again", readings).manifest
    assert publish_chunk(platform, again.run_id, DAYS).unchanged == tuple(DAYS)


def test_two_changes_for_one_key_fail_the_gate_also_where_both_are_stale(run, stage):
    run("first", [("a", 51)])
    chunk = stage("twice", [("a", 11), ("a", 22)])
    failed = {verdict.gate for verdict in chunk.verdicts if not verdict.has_passed}
    assert Gate.KEY_UNIQUE in failed


@pytest.mark.parametrize("order", [("live", "backfill"), ("backfill", "live")])
def test_the_higher_version_stays_whoever_published_first(platform, run, stage, rows, order):
    given = {
        "live": {"readings": FROM_LIVE, **LIVE},
        "backfill": {"readings": FROM_BACKFILL},
    }
    first, second = order
    runs = {name: stage(name, **given[name]).manifest for name in given}
    publish_chunk(platform, runs[first].run_id, DAYS)
    with pytest.raises(TargetMoved):
        publish_chunk(platform, runs[second].run_id, DAYS)
    run("again", replaces=runs[second].run_id, **given[second])
    assert rows(LATEST, "meter", "amount", "revision", "operation") == [
        ("a", 1, 3, "UPSERT"),
        ("b", 0, 2, "DELETE"),
        ("c", 3, 1, "UPSERT"),
    ]


def test_an_append_only_table_takes_one_run_and_then_another_beside_it(run, rows):
    first = run("first", [("a", 1), ("b", 2)], table=ONCE)
    with pytest.raises(PlanRefused, match=r"2025-01-01\.\.2025-01-02 hold something already"):
        run("again", [("a", 3)], table=ONCE)
    run(
        "second",
        [("a", 3)],
        table=ONCE,
        days=DayRange.closed(FIRST.replace(day=3), FIRST.replace(day=3)),
    )
    assert rows(ONCE, "meter", "amount", "produced_by_run_id") == [
        ("a", 1, first.run_id),
        ("b", 2, first.run_id),
    ]
