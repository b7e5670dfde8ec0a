"""What a run would change, before it is published: staged rows against those that consumers see.

It asks the declarations what an owner wants to see, lets the validator compare, and keeps what was
found. Dying in between leaves a table that no record names, and the next comparison replaces it.
"""

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from backfill_platform.domain.changes import RunDifferences
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.schema_changes import SchemaChangeKind
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.deletions import run_protection
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.compared_sides import (
    ComparedDays,
    read_sides,
    tell_days_apart,
)
from backfill_platform.engine.publish.comparisons import (
    KeptComparison,
    keep_comparison,
    refuse_private,
    staged_chunks,
)
from backfill_platform.governance.privacy import private_columns
from backfill_platform.validator.diff.comparing import Question, compare_sides
from backfill_platform.validator.diff.shape import Shape, shape_of


def compare_run(
    platform: Platform,
    spark: SparkSession,
    run_id: RunId,
    *,
    by: Sequence[str] = (),
    watched: Sequence[Mapping[str, str]] = (),
) -> KeptComparison:
    """All that is staged of a run, in one comparison, which replaces the one before it."""
    manifest, chunks = load_manifest(platform, run_id), staged_chunks(platform, run_id)
    spec = platform.catalog.tables[manifest.target.table]
    question = _question(manifest, spec, by, watched)
    refuse_private(spec, question.dimensions, question.watched)
    every = PartitionSet.of_days(day for chunk in chunks for day in chunk.days)
    days = tell_days_apart(platform, manifest, every)
    differences = _compare(platform, spark, manifest, days, question)
    return keep_comparison(platform, manifest, chunks, differences)


def _question(
    manifest: Manifest, spec: TableSpec, by: Sequence[str], watched: Sequence[Mapping[str, str]]
) -> Question:
    return Question(
        run_id=manifest.run_id,
        base_version=manifest.target.base_version,
        seed=manifest.digest,
        dimensions=tuple(dict.fromkeys(by)) or _usual_dimensions(spec),
        watched=(*spec.quality.watched_keys, *watched),
    )


def _usual_dimensions(spec: TableSpec) -> tuple[str, ...]:
    """The partition, and what the table counts its measures by, as far as it may be listed."""
    declared = [column for measure in spec.quality.measures for column in measure.by]
    named = dict.fromkeys((spec.partition_column, *declared, *spec.reconciliation.by))
    return tuple(column for column in named if column not in private_columns(spec))


def _compare(
    platform: Platform,
    spark: SparkSession,
    manifest: Manifest,
    days: ComparedDays,
    question: Question,
) -> RunDifferences:
    table, protection = manifest.target.table, run_protection(platform, manifest)
    found = compare_sides(
        read_sides(platform, spark, manifest, days),
        _shape(platform, table, protection),
        question,
        protection=protection,
        path=platform.warehouse.diff_path(table, manifest.run_id),
    )
    return RunDifferences(
        run_id=manifest.run_id,
        table=table,
        base_version=manifest.target.base_version,
        days=days.every,
        changed_days=days.changed,
        equal_days=days.equal,
        equal_rows=_rows_staged(platform, manifest.run_id, days.equal),
        added_columns=_columns(manifest, SchemaChangeKind.ADDED),
        removed_columns=_columns(manifest, SchemaChangeKind.REMOVED),
        found=found,
    )


def _shape(platform: Platform, table: str, protection: Protection) -> Shape:
    spec = platform.catalog.tables[table]
    return shape_of(
        platform.catalog.contracts[table],
        partition_column=spec.partition_column,
        keys=spec.keys,
        protection=protection,
        decimal_places=spec.quality.decimal_places,
    )


def _rows_staged(platform: Platform, run_id: RunId, days: PartitionSet | None) -> int:
    measured = platform.ledger.measurements(run_id, days) if days else ()
    return sum(one.row_count for one in measured)


def _columns(manifest: Manifest, kind: SchemaChangeKind) -> tuple[str, ...]:
    return tuple(one.column for one in manifest.target.schema_changes if one.kind is kind)
