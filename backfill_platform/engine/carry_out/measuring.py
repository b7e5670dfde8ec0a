"""Takes the figures of what a chunk has staged, from what was written and not what was meant, and
of what its inputs say it has to be."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from backfill_platform.domain.contracts import LINEAGE_COLUMNS
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import PartitionMeasurement, SourceMeasurement
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.transforms import Frames
from backfill_platform.engine.carry_out.day_facts import with_day_facts
from backfill_platform.engine.carry_out.parts import Part, session_of
from backfill_platform.engine.platform import Platform
from backfill_platform.executor.beside import done_beside
from backfill_platform.executor.staging import chunk_context
from backfill_platform.lakehouse.reading import read_own
from backfill_platform.validator.contract import spark_schema
from backfill_platform.validator.measure import check_measures, measure_staged
from backfill_platform.validator.measure_plan import (
    NOTHING_TO_PROTECT,
    MeasurePlan,
    plan_measurement,
)
from backfill_platform.validator.measure_source import measure_source
from backfill_platform.validator.relations import InputDays, Related, find_related
from backfill_platform.validator.repetitions_in_files import repeated_in_files


def measure_chunk(
    platform: Platform,
    spark: SparkSession,
    manifest: Manifest,
    days: DayRange,
    frames: Frames,
    protection: Protection,
) -> tuple[PartitionMeasurement, ...]:
    rows = staged_rows(platform, spark, manifest, days)
    plan = measure_plan(platform, manifest, protection)
    related = related_keys(platform, spark, manifest, frames)
    staging = platform.warehouse.staging_path(manifest.target.table, manifest.run_id)
    measured = measure_staged(rows, plan, related, repeated_in_files(staging, days, plan))
    return with_day_facts(platform, manifest, days, measured, protection)


def refuse_measures(platform: Platform, spark: SparkSession, manifest: Manifest) -> None:
    """Before anything is computed: measures that no exact figure could come of."""
    plan = measure_plan(platform, manifest, NOTHING_TO_PROTECT)
    staged = replace(plan.contract, columns=(*plan.contract.columns, *LINEAGE_COLUMNS))
    check_measures(spark.createDataFrame([], spark_schema(staged)), plan)


def measure_inputs(
    platform: Platform, manifest: Manifest, parts: Iterable[Part], protection: Protection
) -> tuple[SourceMeasurement, ...]:
    reconciliation = platform.catalog.tables[manifest.target.table].reconciliation
    plan = measure_plan(platform, manifest, protection)
    return tuple(
        measured
        for part in parts
        for measured in measure_source(
            reconciliation.from_inputs(part.frames, chunk_context(manifest, part.days)), plan
        )
    )


@contextmanager
def inputs_measured_beside(
    platform: Platform, manifest: Manifest, parts: Sequence[Part], protection: Protection
) -> Iterator[Callable[[], tuple[SourceMeasurement, ...]]]:
    """While the chunk is computed: what its inputs say does not depend on what comes out."""
    spark = session_of(parts)
    measure = partial(measure_inputs, platform, manifest, parts, protection)
    if spark is None:
        yield measure
        return
    with done_beside(spark, measure, f"inputs:{manifest.run_id}:{parts[0].days}") as measured:
        yield measured


def measure_plan(platform: Platform, manifest: Manifest, protection: Protection) -> MeasurePlan:
    spec = platform.catalog.tables[manifest.target.table]
    return plan_measurement(
        spec,
        platform.catalog.contracts[spec.full_name],
        run_id=manifest.run_id,
        protection=protection,
    )


def related_keys(
    platform: Platform, spark: SparkSession, manifest: Manifest, frames: Frames
) -> tuple[Related, ...]:
    """What staged rows may refer to: the frames of the chunk, day by day within their windows."""
    relations = platform.catalog.tables[manifest.target.table].quality.relations
    inputs = {
        pinned.name: InputDays(
            column=_day_column(platform, pinned.name),
            window=pinned.window,
        )
        for pinned in manifest.inputs
    }
    return find_related(spark, relations, frames, inputs)


def _day_column(platform: Platform, name: str) -> str:
    source = platform.catalog.sources.get(name)
    return source.day_column if source else platform.catalog.tables[name].partition_column


def staged_rows(
    platform: Platform, spark: SparkSession, manifest: Manifest, days: DayRange
) -> DataFrame:
    table = manifest.target.table
    return read_own(spark, platform.warehouse.staging_path(table, manifest.run_id), days)
