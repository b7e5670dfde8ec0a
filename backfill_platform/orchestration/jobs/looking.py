"""Jobs `compare_run` and `reproduce_run`: what a run would change, and whether it comes out again.

Both compute, and so need Spark; what forbids them is said before it starts. Neither changes what
consumers see, and both keep in the run's evidence who looked and what was found.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import dagster as dg
from dagster_pyspark import PySparkResource
from pydantic import Field

from backfill_platform.domain.changes import RunDifferences
from backfill_platform.domain.errors import ContractBroken, PlanRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.reproductions import Attempt, Reproduction
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.comparing import compare_run
from backfill_platform.engine.publish.comparisons import KeptComparison, staged_chunks
from backfill_platform.engine.reproduce.reproducing import refuse_irreproducible, reproduce_run
from backfill_platform.orchestration.check_words import show_days
from backfill_platform.orchestration.failures import told_to_dagster
from backfill_platform.orchestration.jobs.acting import Desk, OnRunConfig, make_job, tell
from backfill_platform.orchestration.jobs.days import DAYS, parse_asked
from backfill_platform.orchestration.plan_tables import Row, table_of

_ROWS_SHOWN = 31


class CompareConfig(OnRunConfig):
    by: list[str] = Field(
        default_factory=list,
        description="Columns to count by; the partition, and what the table declares, if not said.",
    )


class ReproduceConfig(OnRunConfig):
    days: str = Field(default="", description=DAYS)
    chunk_days: int | None = Field(default=None, ge=1, description="Of the second way.")
    partitions: int | None = Field(
        default=None, ge=1, description="Of the second way: shuffle partitions."
    )


def make_compare_job(desk: Desk) -> dg.JobDefinition:
    @dg.op(out=dg.Out(dg.Nothing), description="Tell what a staged run would change, by key.")
    def compare(context: dg.OpExecutionContext, config: CompareConfig, pyspark: PySparkResource):
        run_id = RunId(config.run)
        with told_to_dagster():
            looking = replace(desk.platform, worker=desk.actor(context, config))
            _refuse_columns(desk.platform, load_manifest(desk.platform, run_id), config.by)
            staged_chunks(desk.platform, run_id)
            kept = compare_run(looking, pyspark.spark_session, run_id, by=tuple(config.by))
        tell(context, desk, run_id, _summary(kept.differences), _compared(kept))

    return make_job("compare_run", compare)


def make_reproduce_job(desk: Desk) -> dg.JobDefinition:
    @dg.op(out=dg.Out(dg.Nothing), description="Compute a run again, and compare its checksums.")
    def reproduce(
        context: dg.OpExecutionContext, config: ReproduceConfig, pyspark: PySparkResource
    ):
        run_id = RunId(config.run)
        with told_to_dagster():
            actor, days = desk.actor(context, config), parse_asked(config.days)
            refuse_irreproducible(desk.platform, run_id, days)
            found = reproduce_run(
                desk.platform,
                pyspark.spark_session,
                run_id,
                by=actor,
                days=days,
                chunk_days=config.chunk_days,
                partitions=config.partitions,
            )
        tell(context, desk, run_id, _verdict(found), _attempts(found))
        with told_to_dagster():
            _refuse_different(found)

    return make_job("reproduce_run", reproduce)


def _refuse_columns(platform: Platform, manifest: Manifest, by: Iterable[str]) -> None:
    known = platform.catalog.contracts[manifest.target.table].column_names
    unknown = [column for column in by if column not in known]
    if unknown:
        names = ", ".join(known)
        raise PlanRefused((f"`by`: {manifest.target.table} has no {unknown[0]!r}; it has {names}",))


def _summary(found: RunDifferences) -> str:
    totals = found.found.totals
    return (
        f"{found.run_id}, {show_days(found.days)}: {totals.added:,} rows added, "
        f"{totals.removed:,} removed, {totals.changed:,} changed, {found.unchanged_rows:,} the same"
    )


def _compared(kept: KeptComparison) -> dict[str, Any]:
    found = kept.differences.found
    told: dict[str, Any] = {
        "compared: rows added": found.totals.added,
        "compared: rows removed": found.totals.removed,
        "compared: rows changed": found.totals.changed,
        "compared: table of what differs": dg.MetadataValue.path(kept.path),
    }
    columns: list[Row] = [{"column": name, "rows": rows} for name, rows in found.by_column.items()]
    if columns:
        told["compared: by column"] = table_of(columns)
    for dimension in found.dimensions:
        shown = [_count(one) for one in dimension.values[:_ROWS_SHOWN]]
        if shown:
            told[f"compared: by {dimension.column}"] = table_of(shown)
    return told


def _count(one: Any) -> Row:
    return {
        "value": one.value,
        "added": one.added,
        "removed": one.removed,
        "changed": one.changed,
        "unchanged": one.unchanged,
    }


def _verdict(found: Reproduction) -> str:
    how = "comes out again" if found.is_equal else "does not come out again"
    return f"{found.run_id}, {show_days(found.days)}, {found.row_count:,} rows: it {how}"


def _attempts(found: Reproduction) -> dict[str, Any]:
    ways = [_way(attempt) for attempt in found.attempts]
    differing = [row for attempt in found.attempts for row in _differing(attempt)]
    told = {"reproduced: ways": ways, "reproduced: days that differ": differing[:_ROWS_SHOWN]}
    return {name: table_of(rows) for name, rows in told.items() if rows}


def _way(attempt: Attempt) -> Row:
    return {
        "way": attempt.way.name,
        "chunks": len(attempt.way.chunks),
        "rows": attempt.row_count,
        "partitions that differ": len(attempt.differing),
    }


def _differing(attempt: Attempt) -> Iterator[Row]:
    for one in attempt.differing:
        yield {
            "way": attempt.way.name,
            "day": str(one.day),
            "expected": f"{one.expected.row_count:,} rows, {one.expected.checksum}",
            "found": f"{one.found.row_count:,} rows, {one.found.checksum}",
        }


def _refuse_different(found: Reproduction) -> None:
    if not found.is_equal:
        raise ContractBroken(
            f"Run {found.run_id} does not come out again as it was measured; the days that differ "
            "stand in this step's output and in the run's evidence. Look at what its transform "
            "reads, and release it as a new version"
        )
