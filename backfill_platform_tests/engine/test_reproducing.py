"""A run is computed again from its manifest: it comes out equal, or what differs is named."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from backfill_platform.domain.errors import (
    ManifestDrifted,
    StagingIncomplete,
    TransformNotDeterministic,
)
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.transforms import Frames, TransformContext, TransformFunction
from backfill_platform.engine.carry_out.staging import stage_chunk, stage_days
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.records import bundle
from backfill_platform.engine.reproduce.reproducing import refuse_irreproducible, reproduce_run
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.readings import BRONZE, LANDING, SILVER, land, week

DAYS = week()
HARMLESS = "Nobody looks at the amounts."


def numbered(frames: Frames, context: TransformContext) -> DataFrame:
    """Which meter gets which number is left open."""
    anyhow = Window.partitionBy("day").orderBy(F.lit(1))
    amount = F.row_number().over(anyhow).cast("bigint").alias("amount")
    return frames.inputs[LANDING].select("day", "meter", amount)


def computed_by(platform: Platform, function: TransformFunction, ties: str = "") -> Platform:
    spec = platform.catalog.tables[BRONZE]
    version = replace(spec.transforms[0], function=function, ties=ties)
    tables = {**platform.catalog.tables, BRONZE: replace(spec, transforms=(version,))}
    return replace(platform, catalog=replace(platform.catalog, tables=tables))


@pytest.fixture
def staged(platform: Platform, spark, intent: Callable[..., Any]):
    """Stages all days of a table in chunks of the table's own length; gives the manifest."""

    def stage(table: str, origin: str, on: Platform = platform, **changes: Any):
        manifest = open_run(on, intent(table, DAYS, origin, **changes))
        stage_days(on, lambda: spark, manifest.run_id, DAYS)
        return manifest

    return stage


def files(root: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}


def test_a_published_run_comes_out_equal_however_it_is_cut(platform, spark, staged) -> None:
    manifest = staged(BRONZE, "load")
    for days in manifest.chunks:
        publish_chunk(platform, manifest.run_id, days)
    totals = staged(SILVER, "totals")
    found = reproduce_run(platform, spark, totals.run_id, by="ana", chunk_days=2, partitions=5)
    own, other = found.attempts
    assert found.is_equal
    assert (own.way.chunks, own.row_count) == (totals.chunks, found.row_count)
    assert ([len(one) for one in other.way.chunks], other.way.shuffle_partitions) == (
        [2, 2, 2, 1],
        5,
    )


def test_nothing_is_written_but_the_evidence(platform, spark, staged) -> None:
    manifest = staged(BRONZE, "load")
    before = files(platform.warehouse.root)
    events = platform.ledger.events(manifest.run_id)
    reproduce_run(platform, spark, manifest.run_id, by="ana")
    assert files(platform.warehouse.root) == before
    assert platform.ledger.events(manifest.run_id) == events
    last = bundle(platform, manifest.run_id).records()[-1]
    assert (last.kind, last.body["by"], last.body["is_equal"]) == ("reproduction", "ana", True)


def test_a_superseded_run_comes_out_as_it_was(platform, spark, staged) -> None:
    first = staged(BRONZE, "load")
    for days in first.chunks:
        publish_chunk(platform, first.run_id, days)
    others = computed_by(platform, _doubled)
    second = staged(BRONZE, "again", others, kind=RunKind.RESTATEMENT)
    for days in second.chunks:
        publish_chunk(others, second.run_id, days)
    assert platform.ledger.run(first.run_id).state is RunState.SUPERSEDED
    some = PartitionSet.of_range(week(days=2))
    assert reproduce_run(platform, spark, first.run_id, by="ana", days=some).is_equal


def _doubled(frames: Frames, context: TransformContext) -> DataFrame:
    rows = frames.inputs[LANDING]
    return rows.select("day", "meter", (F.col("amount") * 2).alias("amount"))


def test_an_order_that_was_declared_harmless_and_is_not_is_found(platform, spark, staged) -> None:
    land(platform.landing, DAYS, rows=[("a", 1), ("b", 2), ("c", 3)])
    open_order = computed_by(platform, numbered, ties=HARMLESS)
    manifest = staged(BRONZE, "anyhow", open_order)
    found = reproduce_run(open_order, spark, manifest.run_id, by="ana", partitions=7)
    assert not found.is_equal
    differing = found.attempts[1].differing
    assert {one.expected.row_count for one in differing} == {3}
    assert {one.found.checksum == one.expected.checksum for one in differing} == {False}


def test_what_is_declared_harmless_stands_in_the_evidence(platform, staged) -> None:
    manifest = staged(BRONZE, "anyhow", computed_by(platform, numbered, ties=HARMLESS))
    records = bundle(platform, manifest.run_id).records()
    (said,) = [record.body for record in records if record.kind == "examination"]
    assert said["ties"] == HARMLESS
    assert "row_number()" in said["left_open"][0]


def test_a_transform_that_orders_by_less_than_the_key_computes_nothing(
    platform, spark, intent
) -> None:
    undeclared = computed_by(platform, numbered)
    manifest = open_run(undeclared, intent(BRONZE, DAYS, "open"))
    with pytest.raises(TransformNotDeterministic, match=r"column 'amount': `row_number\(\)"):
        stage_chunk(undeclared, spark, manifest.run_id, week(days=5))
    staging = platform.warehouse.staging_path(BRONZE, manifest.run_id)
    assert list(staging.rglob("*.parquet")) == []
    assert platform.ledger.run(manifest.run_id).state is RunState.FAILED


@pytest.fixture
def measured(platform: Platform, intent: Callable[..., Any]):
    """Published without Spark: what is refused before it starts needs none."""
    manifest = plan_run(platform, intent(BRONZE, DAYS, "by hand"))
    run_by_hand(platform, manifest, dict.fromkeys(DAYS, ("a", "b")))
    return manifest


def test_other_code_is_refused_with_what_has_moved(platform, measured) -> None:
    with pytest.raises(ManifestDrifted, match=r"the code of load-readings/1\.0\.0: planned"):
        refuse_irreproducible(computed_by(platform, _doubled), measured.run_id, None)


def test_an_input_that_was_landed_again_is_refused(platform, measured) -> None:
    land(platform.landing, week(days=1), rows=[("c", 9)])
    with pytest.raises(ManifestDrifted, match=r"landing\.readings was landed again for 2025-01-01"):
        refuse_irreproducible(platform, measured.run_id, None)


def test_files_of_an_input_that_were_removed_since_are_named(platform, measured, intent) -> None:
    totals = plan_run(platform, intent(SILVER, DAYS, "totals"))
    run_by_hand(platform, totals, dict.fromkeys(DAYS, ("1",)))
    lost = next(platform.warehouse.table_path(BRONZE).rglob("runs/*/day=2025-01-03/*.parquet"))
    lost.unlink()
    with pytest.raises(ManifestDrifted, match=r"readings has lost files of 2025-01-03: they were"):
        refuse_irreproducible(platform, totals.run_id, None)


def test_a_run_that_was_never_staged_has_nothing_to_compare_with(platform, intent) -> None:
    planned = plan_run(platform, intent(BRONZE, DAYS, "planned"))
    with pytest.raises(StagingIncomplete, match="was ever staged and measured"):
        refuse_irreproducible(platform, planned.run_id, None)


def test_days_that_the_run_does_not_hold_are_refused(platform, measured) -> None:
    asked = PartitionSet.of_range(week(days=9))
    with pytest.raises(StagingIncomplete, match=r"and not 2025-01-08\.\.2025-01-09"):
        refuse_irreproducible(platform, measured.run_id, asked)
