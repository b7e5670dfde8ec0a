"""Computes one chunk and writes it into the run's own staging table. It never touches the target.

Running a chunk twice equals running it once: each write replaces exactly the chunk's days. Warm-up
and late rows cannot slip in, because Delta refuses rows outside the replaced range.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import Contract
from backfill_platform.domain.errors import ContractBroken
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.transforms import (
    Computed,
    Frames,
    TransformContext,
    TransformFunction,
)
from backfill_platform.lakehouse.reading import replace_where
from backfill_platform.lakehouse.staged_statistics import log_statistics


def chunk_context(manifest: Manifest, days: DayRange) -> TransformContext:
    """Everything a transform may know, taken from the manifest and from nowhere else."""
    return TransformContext(
        run_id=manifest.run_id,
        mode=manifest.mode,
        knowledge=manifest.knowledge,
        reason=manifest.reason,
        run_started_at=manifest.planned_at,
        transform_name=manifest.transform.name,
        transform_version=manifest.transform.version,
        config_hash=manifest.transform.config_hash,
        publish_days=days,
        windows={pinned.name: pinned.window for pinned in manifest.inputs},
        reference_versions={use.name: use.version for use in manifest.references},
    )


def compute_chunk(
    transform: TransformFunction, frames: Frames, context: TransformContext, contract: Contract
) -> Computed:
    """The transform's rows in the contract's columns, or a refusal that names what differs."""
    computed = Computed.of(transform(frames, context))
    _check_columns(computed.rows, contract, context)
    return replace(computed, rows=computed.rows.select(*contract.column_names))


def rounded(rows: DataFrame, rounding: Mapping[str, str]) -> DataFrame:
    """`rounding` is SQL by column; see `domain.determinism`."""
    if not rounding:
        return rows
    return rows.withColumns({name: F.expr(sql) for name, sql in rounding.items()})


def write_chunk(
    rows: DataFrame,
    *,
    manifest: Manifest,
    days: DayRange,
    partition_column: str,
    staging: Path,
    has_small_days: bool = False,
) -> None:
    """Small days are brought together before, so that each is one file: to begin and to end a file,
    and to open it whenever it is read, takes as long as thousands of rows do."""
    writer = (
        (_gathered(rows, partition_column, days) if has_small_days else rows)
        .write.format("delta")
        .mode("overwrite")
        .option("replaceWhere", replace_where(partition_column, days))
    )
    try:
        writer.save(str(staging))
    except AnalysisException as refused:
        if "DELTA_REPLACE_WHERE_MISMATCH" not in str(refused):
            raise
        raise ContractBroken(
            f"{manifest.transform.name}/{manifest.transform.version} gave rows outside "
            f"{days}; a transform must return only the days it is asked for"
        ) from refused
    log_statistics(staging)


def _gathered(rows: DataFrame, partition_column: str, days: DayRange) -> DataFrame:
    """In as many tasks as Spark uses elsewhere: how many is left to it, few rows would be one."""
    tasks = int(rows.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    return rows.repartition(min(tasks, len(days)), partition_column)


def with_lineage(rows: DataFrame, manifest: Manifest) -> DataFrame:
    """Invariant: every published row leads back to its run
    (test_every_published_row_names_its_run)."""
    reference = manifest.reference_data_version
    return rows.withColumns(
        {
            **_output_version(manifest),
            "produced_by_run_id": F.lit(manifest.run_id),
            "transform_version": F.lit(f"{manifest.transform.name}/{manifest.transform.version}"),
            "input_snapshot": F.lit(manifest.input_snapshot),
            "processing_mode": F.lit(manifest.mode.value),
            "reference_data_version": F.lit(reference).cast("string"),
        }
    )


def _output_version(manifest: Manifest) -> dict[str, Column]:
    """Where every version of the output is kept, a row's own is a column that partitions it."""
    column, version = manifest.target.version_column, manifest.target.output_version
    return {} if column is None else {column.value: F.lit(version).cast(column.type)}


def _check_columns(rows: DataFrame, contract: Contract, context: TransformContext) -> None:
    found = {field.name: field.dataType.jsonValue() for field in rows.schema.fields}
    problems = [
        *(
            f"column {column.name!r} is missing"
            if column.name not in found
            else f"column {column.name!r} is {found[column.name]} and should be {column.type}"
            for column in contract.columns
            if found.get(column.name) != column.type
        ),
        *(f"column {name!r} is not declared" for name in found if not contract.column(name)),
    ]
    if problems:
        raise ContractBroken(
            f"{context.transform_name}/{context.transform_version} does not keep the table's "
            f"schema: {'; '.join(problems)}. Mend the transform or the declared schema"
        )
