"""The frames that a chunk may read: pinned by the manifest, bounded to what its days may use."""

from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import LINEAGE_COLUMNS
from backfill_platform.domain.errors import ManifestDrifted
from backfill_platform.domain.manifests import Manifest, PinnedInput
from backfill_platform.domain.modes import PublishMode
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.transforms import Frames
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.reading import read_pinned
from backfill_platform.planner.scope import input_days
from backfill_platform.sources.files import list_files, read_files
from backfill_platform.sources.shapes import refuse_unreadable
from backfill_platform.validator.contract import spark_schema


def chunk_frames(
    platform: Platform, spark: SparkSession, manifest: Manifest, days: DayRange
) -> Frames:
    return Frames(
        inputs={
            pinned.name: _read(platform, spark, manifest, pinned, days)
            for pinned in manifest.inputs
        },
        references={
            pinned.name: _load_reference(platform, pinned.name, pinned.version)
            for pinned in manifest.references
        },
        base=_base(platform, spark, manifest, days),
    )


def _base(
    platform: Platform, spark: SparkSession, manifest: Manifest, days: DayRange
) -> DataFrame | None:
    """What the days hold by the manifest, in the columns that are staged now. A column that was
    added since is null, and a value that no longer fits ends the chunk: nothing of it is lost."""
    target = manifest.target
    if target.publish_mode is not PublishMode.MERGE_BY_KEY:
        return None
    contract = platform.catalog.contracts[target.table]
    columns = (*contract.columns, *LINEAGE_COLUMNS)
    schema = spark_schema(replace(contract, columns=columns))
    if target.base_version is None or target.base.keys().isdisjoint(days):
        return spark.createDataFrame([], schema)
    held = read_pinned(
        spark,
        platform.warehouse.table_path(target.table),
        target.base_version,
        platform.catalog.tables[target.table].partition_column,
        days,
    )
    return held.select(
        *(
            (F.col(field.name) if field.name in held.columns else F.lit(None))
            .cast(field.dataType)
            .alias(field.name)
            for field in schema.fields
        )
    )


def _read(
    platform: Platform,
    spark: SparkSession,
    manifest: Manifest,
    pinned: PinnedInput,
    days: DayRange,
) -> DataFrame:
    wanted = input_days(days, pinned.window).clip(pinned.days)
    assert wanted is not None, "the planner refuses days whose input is missing"
    if pinned.name in platform.catalog.sources:
        return _read_source(platform, spark, manifest, pinned, wanted)
    return read_pinned(
        spark,
        platform.warehouse.table_path(pinned.name),
        int(pinned.snapshot),
        platform.catalog.tables[pinned.name].partition_column,
        wanted,
    )


def _read_source(
    platform: Platform,
    spark: SparkSession,
    manifest: Manifest,
    pinned: PinnedInput,
    wanted: DayRange,
) -> DataFrame:
    source = platform.catalog.sources[pinned.name]
    found = list_files(platform.landing, source, wanted).digests
    moved = tuple(
        f"{pinned.name} of {day} was landed again"
        for day in wanted
        if found.get(day) != pinned.files.get(day)
    )
    if moved:
        raise ManifestDrifted(manifest.run_id, moved)
    contract = platform.catalog.contracts[pinned.name]
    refuse_unreadable(platform.landing, source, contract, wanted)
    schema = spark_schema(contract)
    return read_files(spark, platform.landing, source, schema, wanted)


def _load_reference(platform: Platform, name: str, version: str) -> Any:
    reference = platform.catalog.references[name]
    known = next(known for known in reference.versions if known.version == version)
    return reference.load(known.path)
