"""A restatement where little changed computes little, and comes out as one that computes all."""

from dataclasses import replace
from datetime import timedelta
from shutil import copytree

import pytest
from deltalake import DeltaTable
from pyspark.sql import functions as F

from backfill_platform.domain.errors import ManifestDrifted, TargetMoved
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.verdicts import Gate
from backfill_platform.enforcement.catalog import TABLES
from backfill_platform.engine.carry_out.staging import stage_chunk, stage_days
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.look.verifying import verify_run
from backfill_platform.engine.plan.run_words import find_run_words
from backfill_platform.engine.publish.comparing import compare_run
from backfill_platform.engine.publish.publishing import find_run, publish_chunk
from backfill_platform.engine.records import bundle
from backfill_platform.engine.reproduce.reproducing import reproduce_run
from backfill_platform_tests.readings import BRONZE, SILVER, land, total, week

DAYS = week()
CHANGED = DAYS.start + timedelta(days=3)
AROUND = DayRange.of_day(CHANGED).widen(before_days=1, after_days=1)


class NoSpark(Exception):
    """Somebody has asked for a session."""


def no_spark():
    raise NoSpark


@pytest.fixture
def plan(platform, intent):
    """Opens a restatement of all days, on a platform that may be another one."""

    def restate(table, origin, on=platform, **changes):
        asked = {"kind": RunKind.RESTATEMENT, "computes_all": False} | changes
        return open_run(on, intent(table, DAYS, origin, **asked))

    return restate


@pytest.fixture
def run(platform, spark, plan):
    def whole(table, origin, **changes):
        manifest = plan(table, origin, **changes)
        stage_chunk(platform, spark, manifest.run_id, DAYS)
        return manifest, publish_chunk(platform, manifest.run_id, DAYS)

    return whole


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("kept") / "published"


@pytest.fixture
def published(platform, home, kept, run):
    """Both tables, of seven days, computed by the first test that asks; gives the manifests."""
    if kept.exists():
        copytree(kept, home, dirs_exist_ok=True)
    else:
        run(BRONZE, "load")
        run(SILVER, "totals")
        copytree(home, kept)
    return find_run(platform, "load"), find_run(platform, "totals")


def staged_days(platform, manifest):
    path = platform.warehouse.staging_path(manifest.target.table, manifest.run_id)
    return {row["day"] for row in DeltaTable(path).to_pyarrow_table(columns=["day"]).to_pylist()}


def test_a_run_that_leaves_every_day_starts_no_spark(platform, published, plan):
    manifest = plan(SILVER, "again")
    assert manifest.unchanged_days == {*DAYS}
    assert {one.run_id for one in manifest.unchanged} == {published[1].run_id}
    assert stage_days(platform, no_spark, manifest.run_id, DAYS).has_passed
    for chunk in manifest.chunks:
        assert publish_chunk(platform, manifest.run_id, chunk).changed == ()
    assert platform.ledger.run(manifest.run_id).state is RunState.PUBLISHED
    assert platform.ledger.run(published[1].run_id).state is RunState.PUBLISHED


def test_the_days_are_computed_whose_windows_hold_what_changed(platform, published, run):
    land(platform.landing, [CHANGED], [("a", 10), ("b", 2)])
    loaded, changed = run(BRONZE, "late")
    assert (staged_days(platform, loaded), changed.changed) == ({CHANGED}, (CHANGED,))
    restated, outcome = run(SILVER, "restated")
    assert staged_days(platform, restated) == {*AROUND}
    assert outcome.changed == tuple(AROUND)


def test_it_comes_out_as_if_all_had_been_computed(platform, published, run):
    land(platform.landing, [CHANGED], [("a", 10), ("b", 2)])
    run(BRONZE, "late")
    run(SILVER, "restated")
    every, outcome = run(SILVER, "all of it", computes_all=True)
    assert every.computes_all
    assert staged_days(platform, every) == {*DAYS}
    assert outcome.changed == ()


def in_thousands(frames, context):
    """Of which small changes of the input change nothing."""
    return total(frames, context).withColumn("total", F.expr("total div 1000"))


def test_days_that_came_out_as_they_were_are_left_from_then_on(platform, run, monkeypatch):
    spec = platform.catalog.tables[SILVER]
    rough = replace(spec, transforms=(replace(spec.transforms[0], function=in_thousands),))
    monkeypatch.setitem(platform.catalog.tables, SILVER, rough)
    run(BRONZE, "load")
    first, _ = run(SILVER, "totals")
    land(platform.landing, [CHANGED], [("a", 10), ("b", 2)])
    assert run(BRONZE, "late")[1].changed == (CHANGED,)
    restated, outcome = run(SILVER, "restated")
    assert (staged_days(platform, restated), outcome.changed) == ({*AROUND}, ())
    computed_by = {first.run_id: {*DAYS} - {*AROUND}, restated.run_id: {*AROUND}}
    for origin in ("again", "once more"):
        left, _ = run(SILVER, origin)
        assert {one.run_id: {*one.compared} for one in left.unchanged} == computed_by


def test_other_code_or_configuration_computes_every_day(platform, published, plan):
    assert plan(SILVER, "doubled", transform_version="2.0.0").unchanged == ()
    spec = platform.catalog.tables[BRONZE]
    other = replace(spec, config={"unit": "kWh"})
    catalog = replace(platform.catalog, tables={**platform.catalog.tables, BRONZE: other})
    assert plan(BRONZE, "kWh", on=replace(platform, catalog=catalog)).unchanged == ()


def test_a_reprocessing_and_a_table_that_says_so_compute_every_day(platform, published, intent):
    again = intent(SILVER, DAYS, "again", kind=RunKind.REPROCESSING, computes_all=False)
    assert open_run(platform, again).unchanged == ()
    spec = replace(platform.catalog.tables[BRONZE], skips_unchanged=False)
    catalog = replace(platform.catalog, tables={**platform.catalog.tables, BRONZE: spec})
    always = intent(BRONZE, DAYS, "always", computes_all=False)
    assert open_run(replace(platform, catalog=catalog), always).unchanged == ()


def test_a_chunk_that_failed_half_way_is_taken_up_again(platform, spark, published, plan):
    land(platform.landing, [CHANGED], [("a", 10), ("b", 2)])
    manifest = plan(BRONZE, "late")
    with pytest.raises(NoSpark):
        stage_days(platform, no_spark, manifest.run_id, DAYS)
    assert platform.ledger.run(manifest.run_id).state is RunState.FAILED
    stage_days(platform, lambda: spark, manifest.run_id, DAYS)
    assert staged_days(platform, manifest) == {CHANGED}
    assert platform.ledger.run(manifest.run_id).state is RunState.VALIDATED


def test_a_day_that_moved_since_it_was_planned_to_be_left_is_refused(platform, published, plan):
    manifest = plan(BRONZE, "again")
    land(platform.landing, [CHANGED], [("a", 10), ("b", 2)])
    with pytest.raises(ManifestDrifted, match=rf"{CHANGED} of {BRONZE} was to be left"):
        stage_days(platform, no_spark, manifest.run_id, DAYS)


def test_a_day_that_was_left_is_never_published(platform, spark, published, plan):
    manifest = plan(SILVER, "again")
    stage_days(platform, no_spark, manifest.run_id, DAYS)
    target = str(platform.warehouse.table_path(SILVER))
    intruder = spark.read.format("delta").load(target).where(f"day = DATE'{CHANGED}'")
    intruder.write.format("delta").mode("append").save(target)
    before = DeltaTable(target).version()
    with pytest.raises(TargetMoved, match="was left as it was accepted"):
        publish_chunk(platform, manifest.run_id, manifest.chunks[0])
    assert DeltaTable(target).version() == before
    assert platform.ledger.run(manifest.run_id).state is RunState.VALIDATED


def test_what_somebody_else_has_written_is_computed(platform, spark, published, plan):
    target = str(platform.warehouse.table_path(SILVER))
    intruder = spark.read.format("delta").load(target).where(f"day = DATE'{CHANGED}'")
    intruder.write.format("delta").mode("append").save(target)
    assert plan(SILVER, "again").unchanged_days == {*DAYS} - {CHANGED}


def test_a_day_whose_file_is_gone_is_computed(platform, published, plan):
    path = platform.warehouse.table_path(SILVER)
    for file in path.glob(f"runs/*/day={CHANGED}/*.parquet"):
        file.unlink()
    assert plan(SILVER, "again").unchanged_days == {*DAYS} - {CHANGED}


def test_the_verdict_on_the_inputs_says_whose_it_is(platform, published, plan):
    manifest = plan(SILVER, "again")
    stage_days(platform, no_spark, manifest.run_id, DAYS)
    found = {
        one.found
        for one in platform.ledger.verdicts(manifest.run_id, DAYS)
        if one.gate is Gate.RECONCILED
    }
    assert found == {f"meters=2, as found by {published[1].run_id}"}


def test_the_evidence_says_which_days_were_left_and_who_computed_them(platform, published, plan):
    manifest = plan(SILVER, "again")
    stage_days(platform, no_spark, manifest.run_id, DAYS)
    records = bundle(platform, manifest.run_id).records()
    bodies = [record.body for record in records if record.kind == "left"]
    by = published[1].run_id
    assert [body["computed_by"] for body in bodies] == [
        {by: str(chunk)} for chunk in manifest.chunks
    ]
    found = verify_run(
        platform.ledger, platform.evidence, manifest.run_id, check_signature=lambda _: "key"
    )
    assert found.holds


def test_a_run_that_left_days_is_reproduced_with_them(platform, spark, published, run):
    land(platform.landing, [CHANGED], [("a", 10), ("b", 2)])
    manifest, _ = run(BRONZE, "late")
    found = reproduce_run(platform, spark, manifest.run_id, by="ana")
    assert (found.is_equal, found.days) == (True, PartitionSet.of_range(DAYS))


def test_a_comparison_counts_the_rows_of_days_that_are_left(platform, spark, published, plan):
    land(platform.landing, [CHANGED], [("a", 10), ("b", 2)])
    manifest = plan(BRONZE, "late")
    stage_chunk(platform, spark, manifest.run_id, DAYS)
    compared = compare_run(platform, spark, manifest.run_id)
    assert compared.differences.changed_days == PartitionSet.of_days([CHANGED])
    assert compared.differences.equal_rows == 2 * (len(DAYS) - 1)


def test_what_a_run_read_counts_the_computed_days_alone(platform, published, run):
    land(platform.landing, [CHANGED], [("a", 10), ("b", 2)])
    manifest, _ = run(BRONZE, "late")
    (chunk,) = platform.ledger.chunks(manifest.run_id)
    assert (chunk.input_count, chunk.output_count) == (2, 2)
    assert len(platform.ledger.past_chunks(BRONZE)) == 1


def of_its_run(_frames, context):
    return context.run_started_at


def of_its_mode(_frames, context):
    return getattr(context, "mode")  # noqa: B009 - it is to be found


def test_a_transform_that_reads_of_its_run_is_found():
    assert find_run_words(total) == frozenset()
    assert find_run_words(of_its_run) == {"run_started_at"}
    assert find_run_words(of_its_mode) == {"mode", "reason", "run_id", "run_started_at"}


@pytest.mark.parametrize("spec", TABLES, ids=lambda spec: spec.full_name)
def test_every_table_of_the_reference_domain_may_be_left_as_it_is(spec):
    assert find_run_words(spec.transforms[-1].function) == frozenset()
