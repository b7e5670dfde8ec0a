"""The whole road of one run, on real Spark and Delta: open, stage, judge, publish, record."""

import json
from dataclasses import replace
from threading import Event

import pytest

from backfill_platform.domain.errors import (
    ChunkRefused,
    ContractBroken,
    EngineUnavailable,
    GateFailed,
    ManifestDrifted,
    TargetMoved,
)
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.modes import ExecutionMode
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.carry_out import staging
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.publish.comparing import compare_run
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.lakehouse.delta_tables import staged_files
from backfill_platform_tests.readings import BRONZE, LANDING, SILVER, land, week

DAYS = week()
MIDDLE = DayRange(DAYS.start.replace(day=3), DAYS.start.replace(day=5))


@pytest.fixture
def run(platform, spark, intent):
    """Stages and publishes one run over all its days; returns its manifest."""

    def whole(table, days, origin, **changes):
        manifest = open_run(platform, intent(table, days, origin, **changes))
        stage_chunk(platform, spark, manifest.run_id, days)
        publish_chunk(platform, manifest.run_id, days)
        return manifest

    return whole


@pytest.fixture
def rows(platform, spark):
    """What Spark reads from the published table, in order."""

    def read(table, *columns):
        path = str(platform.warehouse.table_path(table))
        found = spark.read.format("delta").load(path).select(*(columns or ("*",)))
        return sorted(tuple(row) for row in found.collect())

    return read


@pytest.fixture
def loaded(run):
    return run(BRONZE, DAYS, "load")


def test_a_run_ends_published_and_says_so_step_by_step(platform, loaded):
    states = [event.to_state for event in platform.ledger.events(loaded.run_id)]
    assert states == [
        RunState.PLANNED,
        RunState.APPROVED,
        RunState.STAGING,
        RunState.STAGED,
        RunState.VALIDATED,
        RunState.PUBLISHING,
        RunState.PUBLISHED,
    ]


def test_every_published_row_names_its_run(loaded, rows):
    lineage = set(rows(BRONZE, "produced_by_run_id", "transform_version", "processing_mode"))
    assert lineage == {(loaded.run_id, "load-readings/1.0.0", "BACKFILL")}


def test_warm_up_and_late_days_are_read_and_never_published(loaded, run, rows):
    run(SILVER, MIDDLE, "totals")
    published = rows(SILVER, "day", "meter", "total")
    assert published == [
        (day, meter, 3 * amount) for day in MIDDLE for meter, amount in (("a", 1), ("b", 2))
    ]


def test_a_small_day_is_one_file_of_which_the_log_tells_everything(platform, spark, loaded, run):
    spark.conf.set("spark.sql.adaptive.enabled", "false")  # it brings few rows together by itself
    totals = run(SILVER, MIDDLE, "totals")
    spark.conf.set("spark.sql.adaptive.enabled", "true")
    files = staged_files(platform.warehouse.staging_path(SILVER, totals.run_id), None)
    told = [json.loads(file.statistics or "") for file in files]
    assert [file.day for file in files] == [*MIDDLE]
    assert [one["numRecords"] for one in told] == [2, 2]
    assert [one["maxValues"]["meter"] for one in told] == ["b", "b"]


def test_a_second_publication_of_the_same_staging_changes_nothing(platform, loaded, rows):
    before = rows(BRONZE)
    again = publish_chunk(platform, loaded.run_id, DAYS)
    assert (again.changed, rows(BRONZE)) == ((), before)


def test_staging_a_chunk_again_gives_the_same_without_computing(platform, spark, loaded):
    again = stage_chunk(platform, spark, loaded.run_id, DAYS)
    assert again.has_passed
    assert [chunk.attempt for chunk in platform.ledger.chunks(loaded.run_id)] == [1]


def test_whoever_comes_with_the_same_origin_joins_the_run(platform, intent, loaded):
    assert open_run(platform, intent(BRONZE, DAYS, "load")) == loaded


def test_staging_shows_readers_nothing(platform, spark, intent, loaded, run, rows):
    run(SILVER, MIDDLE, "totals")
    before = rows(SILVER)
    doubled = open_run(platform, intent(SILVER, MIDDLE, "doubled", transform_version="2.0.0"))
    stage_chunk(platform, spark, doubled.run_id, MIDDLE)
    assert rows(SILVER) == before


def test_a_restatement_supersedes_the_run_before_it(platform, loaded, run, rows):
    first = run(SILVER, MIDDLE, "totals", transform_version="1.0.0")
    second = run(SILVER, MIDDLE, "doubled", transform_version="2.0.0")
    assert {total for _, total in rows(SILVER, "meter", "total")} == {6, 12}
    assert platform.ledger.run(first.run_id).state is RunState.SUPERSEDED
    owed = {one.run_id for one in platform.ledger.accepted(SILVER, MIDDLE).values()}
    assert owed == {second.run_id}


def test_partitions_equal_to_the_accepted_ones_are_not_published_again(platform, loaded, run):
    run(SILVER, MIDDLE, "totals")
    again = run(SILVER, MIDDLE, "totals again")
    assert platform.ledger.run(again.run_id).state is RunState.PUBLISHED
    assert platform.ledger.open_intents() == ()
    owed = {one.run_id for one in platform.ledger.accepted(SILVER, MIDDLE).values()}
    assert again.run_id not in owed


def test_a_failed_gate_leaves_the_target_as_it_was(platform, spark, intent, loaded, rows):
    before = rows(BRONZE)
    land(platform.landing, MIDDLE, [("a", 1), ("a", 2), ("b", -5)])
    poisoned = open_run(platform, intent(BRONZE, DAYS, "poisoned"))
    chunk = stage_chunk(platform, spark, poisoned.run_id, DAYS)
    failed = {
        (verdict.gate.value, verdict.day) for verdict in chunk.verdicts if not verdict.has_passed
    }
    assert failed == {(gate, day) for gate in ("key_unique", "values_valid") for day in MIDDLE}
    with pytest.raises(GateFailed, match="negative or missing"):
        publish_chunk(platform, poisoned.run_id, DAYS)
    assert rows(BRONZE) == before
    assert platform.ledger.run(poisoned.run_id).state is RunState.FAILED


def test_publication_is_refused_without_stored_positive_verdicts(platform, intent, loaded):
    unstaged = open_run(platform, intent(SILVER, MIDDLE, "unstaged"))
    with pytest.raises(GateFailed, match="nothing is published"):
        publish_chunk(platform, unstaged.run_id, MIDDLE)


def test_a_dry_run_is_never_published(platform, spark, intent, loaded):
    dry = open_run(platform, intent(SILVER, MIDDLE, "dry", mode=ExecutionMode.DRY_RUN))
    stage_chunk(platform, spark, dry.run_id, MIDDLE)
    with pytest.raises(GateFailed, match="never publishes"):
        publish_chunk(platform, dry.run_id, MIDDLE)


def test_a_concurrent_append_between_staging_and_publication_is_refused(
    platform, spark, intent, loaded, run, rows
):
    run(SILVER, MIDDLE, "totals")
    doubled = open_run(platform, intent(SILVER, MIDDLE, "doubled", transform_version="2.0.0"))
    stage_chunk(platform, spark, doubled.run_id, MIDDLE)
    target = str(platform.warehouse.table_path(SILVER))
    intruder = spark.read.format("delta").load(target).limit(1)
    intruder.write.format("delta").mode("append").save(target)
    before = rows(SILVER)
    with pytest.raises(TargetMoved):
        publish_chunk(platform, doubled.run_id, MIDDLE)
    assert rows(SILVER) == before
    assert platform.ledger.run(doubled.run_id).state is RunState.VALIDATED
    assert platform.ledger.open_intents() == ()


def test_a_run_refuses_code_that_changed_since_it_was_planned(platform, spark, intent, loaded):
    planned = open_run(platform, intent(SILVER, MIDDLE, "planned", transform_version="1.0.0"))
    spec = platform.catalog.tables[SILVER]
    other = replace(spec.transforms[1], version="1.0.0")
    catalog = replace(
        platform.catalog,
        tables={**platform.catalog.tables, SILVER: replace(spec, transforms=(other,))},
    )
    with pytest.raises(ManifestDrifted, match=r"the code of total-readings/1\.0\.0"):
        stage_chunk(replace(platform, catalog=catalog), spark, planned.run_id, MIDDLE)


def test_a_file_that_was_landed_again_is_not_the_planned_input(platform, spark, intent):
    planned = open_run(platform, intent(BRONZE, DAYS, "planned"))
    land(platform.landing, MIDDLE, [("c", 9)])
    with pytest.raises(ManifestDrifted, match=rf"{LANDING} of 2025-01-03 was landed again"):
        stage_chunk(platform, spark, planned.run_id, DAYS)


def test_a_chunk_outside_the_manifest_is_refused(platform, spark, intent, loaded):
    planned = open_run(platform, intent(SILVER, MIDDLE, "planned"))
    with pytest.raises(ChunkRefused, match="is not within the partitions"):
        stage_chunk(platform, spark, planned.run_id, DAYS)


def test_a_transform_that_breaks_its_schema_fails_the_chunk_before_it_is_written(
    platform, spark, intent, loaded
):
    contract = platform.catalog.contracts[SILVER]
    column = replace(contract.columns[2], type="string")
    broken = replace(contract, columns=(*contract.columns[:2], column))
    contracts = {**platform.catalog.contracts, SILVER: broken}
    changed = replace(platform, catalog=replace(platform.catalog, contracts=contracts))
    planned = open_run(changed, intent(SILVER, MIDDLE, "planned"))
    with pytest.raises(ContractBroken, match="column 'total' is long and should be string"):
        stage_chunk(changed, spark, planned.run_id, MIDDLE)
    assert platform.ledger.chunks(planned.run_id)[0].status is ChunkStatus.FAILED


def test_two_chunks_of_one_run_are_published_apart(platform, spark, intent, loaded, rows):
    manifest = open_run(platform, intent(SILVER, DAYS, "in two"))
    first, second = DAYS.split(4)
    for chunk in (second, first):
        stage_chunk(platform, spark, manifest.run_id, chunk)
        publish_chunk(platform, manifest.run_id, chunk)
    assert len(rows(SILVER)) == 2 * len(DAYS)
    assert platform.ledger.run(manifest.run_id).state is RunState.PUBLISHED


def test_changes_are_counted_before_anything_is_published(platform, spark, intent, loaded, run):
    run(SILVER, MIDDLE, "totals")
    doubled = open_run(platform, intent(SILVER, DAYS, "doubled", transform_version="2.0.0"))
    stage_chunk(platform, spark, doubled.run_id, DAYS)
    (by_meter,) = compare_run(
        platform, spark, doubled.run_id, by=["meter"]
    ).differences.found.dimensions
    counted = [(one.value, one.added, one.changed) for one in by_meter.values]
    assert counted == [("a", 5, 2), ("b", 5, 2)]


def test_the_evidence_of_a_run_is_whole(platform, loaded):
    from backfill_platform.engine.records import bundle

    assert bundle(platform, loaded.run_id).verify() is None
    assert platform.ledger.verify_events(loaded.run_id) is None


class DyingLedger:
    """A ledger that is lost between the commit and the fact."""

    def __init__(self, ledger) -> None:
        self._ledger = ledger

    def __getattr__(self, name):
        return getattr(self._ledger, name)

    def record_fact(self, *_given, **_named):
        raise ConnectionError("the ledger is gone")


def test_after_a_crash_between_commit_and_fact_the_targets_log_decides(
    platform, spark, intent, loaded, run, rows
):
    run(SILVER, MIDDLE, "totals")
    doubled = open_run(platform, intent(SILVER, MIDDLE, "doubled", transform_version="2.0.0"))
    stage_chunk(platform, spark, doubled.run_id, MIDDLE)
    with pytest.raises(ConnectionError):
        publish_chunk(
            replace(platform, ledger=DyingLedger(platform.ledger)), doubled.run_id, MIDDLE
        )
    landed = rows(SILVER)
    assert platform.ledger.run(doubled.run_id).state is RunState.PUBLISHING
    publish_chunk(platform, doubled.run_id, MIDDLE)
    assert rows(SILVER) == landed
    assert platform.ledger.run(doubled.run_id).state is RunState.PUBLISHED
    owed = {one.run_id for one in platform.ledger.accepted(SILVER, MIDDLE).values()}
    assert owed == {doubled.run_id}


def test_a_chunk_whose_computing_failed_can_be_staged_again_at_once(
    platform, spark, intent, loaded, rows
):
    planned = open_run(platform, intent(SILVER, MIDDLE, "planned"))
    missing = replace(platform, landing=platform.landing / "nowhere", warehouse=_empty(platform))
    with pytest.raises(EngineUnavailable, match="there is no Delta table"):
        stage_chunk(missing, spark, planned.run_id, MIDDLE)
    assert platform.ledger.run(planned.run_id).state is RunState.FAILED
    stage_chunk(platform, spark, planned.run_id, MIDDLE)
    publish_chunk(platform, planned.run_id, MIDDLE)
    assert len(rows(SILVER)) == 2 * len(MIDDLE)
    assert [chunk.attempt for chunk in platform.ledger.chunks(planned.run_id)] == [2]


def test_a_chunk_that_fails_interrupts_what_is_counted_beside_it(
    platform, spark, intent, loaded, monkeypatch
):
    has_begun, interrupted = Event(), []

    def count_for_hours(_frames, _context):
        has_begun.set()
        try:
            spark.range(10**14).selectExpr("sum(id)").collect()
        except Exception as error:
            interrupted.append(error)
            raise

    def fail(*_given, **_named):
        assert has_begun.wait(60)
        raise ConnectionError("the storage is gone")

    spec = platform.catalog.tables[SILVER]
    slow = replace(spec, reconciliation=replace(spec.reconciliation, from_inputs=count_for_hours))
    catalog = replace(platform.catalog, tables={**platform.catalog.tables, SILVER: slow})
    slow_platform = replace(platform, catalog=catalog)
    planned = open_run(slow_platform, intent(SILVER, MIDDLE, "planned"))
    monkeypatch.setattr(staging, "write_chunk", fail)
    with pytest.raises(ConnectionError, match="the storage is gone"):
        stage_chunk(slow_platform, spark, planned.run_id, MIDDLE)
    assert len(interrupted) == 1
    assert platform.ledger.run(planned.run_id).state is RunState.FAILED


def _empty(platform):
    """A warehouse whose tables are gone: the storage was lost for a moment."""
    return replace(platform.warehouse, root=platform.warehouse.root / "elsewhere")
