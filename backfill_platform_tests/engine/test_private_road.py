"""What staging leaves out and masks, and that the gate finds what it overlooks: on real Spark."""

from dataclasses import replace
from pathlib import Path

import pytest

from backfill_platform.domain.chunks import ChunkCounts, ClaimedChunk
from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.errors import GateFailed
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import ExecutionMode
from backfill_platform.domain.privacy import ListedSubjects, Mask, Protection
from backfill_platform.domain.transforms import Frames
from backfill_platform.domain.verdicts import Gate
from backfill_platform.engine.carry_out.day_facts import with_day_facts
from backfill_platform.engine.carry_out.measuring import measure_plan, staged_rows
from backfill_platform.engine.carry_out.progress import begin_staging
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.deletions import run_protection
from backfill_platform.engine.platform import open_platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.executor.protecting import masked, protect_frames
from backfill_platform.ledger.migrate import migrate
from backfill_platform.settings import load_settings
from backfill_platform.validator.measure import measure_staged
from backfill_platform.validator.measure_plan import MeasurePlan
from backfill_platform_tests.delta_reader import read_table
from backfill_platform_tests.engine.by_hand import write_rows
from backfill_platform_tests.modes import PRIVATE, PRIVATE_LATEST, forget
from backfill_platform_tests.readings import LANDING, land, week

NOBODY = Path(__file__).parent.parent / "policies" / "nobody.yaml"
DAYS = week(days=2)


@pytest.fixture
def platform(home):
    """`a` and `b` have landed, and `a` is to be forgotten."""
    settings = load_settings(
        catalog="backfill_platform_tests.modes:DECLARATIONS", governance=NOBODY
    )
    migrate(settings.ledger_url)
    land(settings.landing, DAYS, [("a", 11), ("b", 12)])
    forget(settings.landing, "a")
    return open_platform(settings)


@pytest.fixture
def run(platform, spark, intent):
    """Stages and publishes one run over all its days; returns what it staged."""

    def whole(table, origin):
        manifest = open_run(platform, intent(table, DAYS, origin))
        chunk = stage_chunk(platform, spark, manifest.run_id, DAYS)
        publish_chunk(platform, manifest.run_id, DAYS)
        return chunk

    return whole


def shown(platform, table, *columns):
    rows = read_table(platform.warehouse.table_path(table))
    return {tuple(row[column] for column in columns) for row in rows}


def privacy_verdicts(chunk):
    return {one.found for one in chunk.verdicts if one.gate is Gate.PRIVACY_KEPT}


def test_a_replay_does_not_bring_a_listed_subject_back(platform, run):
    replayed = run(PRIVATE, "replay")
    assert shown(platform, PRIVATE, "meter") == {("b",)}
    assert (replayed.has_passed, privacy_verdicts(replayed)) == (True, {"listed_subjects=0"})


def test_a_merge_leaves_out_who_was_listed_after_the_base_was_published(platform, run):
    forget(platform.landing)
    run(PRIVATE_LATEST, "before")
    assert shown(platform, PRIVATE_LATEST, "meter", "phone") == {("a", "7000"), ("b", "8000")}
    forget(platform.landing, "a")
    land(platform.landing, DAYS, [("b", 23)])
    merged = run(PRIVATE_LATEST, "after")
    assert shown(platform, PRIVATE_LATEST, "meter", "phone", "amount") == {("b", "8000", 3)}
    assert privacy_verdicts(merged) == {"listed_subjects=0, phone_unmasked=0"}


class DyingLedger:
    """A ledger that is lost between writing and recording what was staged."""

    def __init__(self, ledger) -> None:
        self._ledger = ledger

    def __getattr__(self, name):
        return getattr(self._ledger, name)

    def finish_chunk_staging(self, *_given, **_named):
        raise ConnectionError("the ledger is gone")


def test_a_chunk_that_is_staged_again_after_a_crash_leaves_out_the_same(platform, spark, intent):
    dry = open_run(platform, intent(PRIVATE, DAYS, "dry", mode=ExecutionMode.DRY_RUN))
    undisturbed = stage_chunk(platform, spark, dry.run_id, DAYS)
    crashing = open_run(platform, intent(PRIVATE, DAYS, "crashing"))
    with pytest.raises(ConnectionError):
        stage_chunk(
            replace(platform, ledger=DyingLedger(platform.ledger)), spark, crashing.run_id, DAYS
        )
    assert stage_chunk(platform, spark, crashing.run_id, DAYS).staged == undisturbed.staged


def test_a_listed_subject_that_comes_back_fails_the_gate_and_is_not_published(
    platform, spark, intent
):
    manifest = open_run(platform, intent(PRIVATE, DAYS, "overlooked"))
    stage_overlooked(platform, spark, manifest)
    judged = stage_chunk(platform, spark, manifest.run_id, DAYS)
    failed = {one.gate: one.message for one in judged.verdicts if not one.has_passed}
    assert list(failed) == [Gate.PRIVACY_KEPT]
    assert "rows that must not be shown: listed_subjects=1; " in failed[Gate.PRIVACY_KEPT]
    with pytest.raises(GateFailed, match="negative or missing"):
        publish_chunk(platform, manifest.run_id, DAYS)
    assert platform.ledger.run(manifest.run_id).state is RunState.FAILED


def stage_overlooked(platform, spark, manifest):
    """As staging would, had it left nobody out: `a` is there instead of `b`."""
    claim = platform.ledger.claim_chunk(
        manifest.run_id,
        DAYS,
        worker=platform.worker,
        lease_seconds=60,
        max_partitions_at_once=None,
        now=platform.clock(),
    )
    assert isinstance(claim, ClaimedChunk)
    begin_staging(platform, manifest)
    staging = platform.warehouse.staging_path(PRIVATE, manifest.run_id)
    write_rows(staging, {day: ["a"] for day in DAYS}, run_id=manifest.run_id)
    platform.ledger.finish_chunk_staging(
        manifest.run_id,
        claim.chunk_id,
        claim.fencing_token,
        counts=ChunkCounts(output_count=2, checksum="overlooked"),
        measurements=measured(platform, spark, manifest),
        now=platform.clock(),
    )


def measured(platform, spark, manifest):
    protection = run_protection(platform, manifest)
    plan = measure_plan(platform, manifest, protection)
    found = measure_staged(staged_rows(platform, spark, manifest, DAYS), plan)
    return with_day_facts(platform, manifest, DAYS, found, protection)


RAW = [("subject-1", "12345", "1234", "x@y"), ("subject-2", None, None, None)]
COLUMNS = "case_id string, phone string, pin string, email string"
CASES = Contract(columns=(Column(name="case_id", type="string", is_nullable=False),), checks=())
PROTECTION = Protection(
    subject_column="case_id",
    listed=ListedSubjects(list_name="landing.forgotten", subjects=frozenset({"subject-1"})),
    masks={
        "case_id": Mask.SHA256,
        "phone": Mask.LAST_FOUR,
        "pin": Mask.LAST_FOUR,
        "email": Mask.NULL,
    },
)


def test_a_mask_leaves_what_it_says_and_a_null_as_it_is(spark):
    rows = masked(spark.createDataFrame(RAW, COLUMNS), PROTECTION).collect()
    assert [tuple(row)[1:] for row in rows] == [("2345", "", None), (None, None, None)]
    assert {len(row["case_id"]) for row in rows} == {64}


def test_raw_values_under_a_mask_are_counted_and_subjects_are_found_in_either_form(spark):
    raw = spark.createDataFrame(RAW, COLUMNS)
    both = raw.union(masked(raw, PROTECTION)).selectExpr("date'2025-01-01' as day", "*")
    plan = MeasurePlan(
        table="silver.cases",
        contract=CASES,
        partition_column="day",
        keys=("day",),
        protection=PROTECTION,
    )
    (found,) = measure_staged(both, plan)
    assert found.private_rows == {
        "listed_subjects": 2,
        "case_id_unmasked": 2,
        "phone_unmasked": 1,
        "pin_unmasked": 0,
        "email_unmasked": 1,
    }


def test_nobody_who_is_listed_stands_in_sparks_plan(spark, capsys):
    frames = Frames(inputs={LANDING: spark.createDataFrame(RAW, COLUMNS)}, references={})
    rows = protect_frames(frames, PROTECTION).inputs[LANDING]
    rows.explain(extended=True)
    assert [row["case_id"] for row in rows.collect()] == ["subject-2"]
    told = capsys.readouterr().out
    assert ("BroadcastHashJoin" in told, "subject-1" in told) == (True, False)
