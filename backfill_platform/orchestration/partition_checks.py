"""Evaluations of a table's checks, by partition, as Dagster stores them.

Dagster records the result of a check in a range run without a partition, and has planned a row for
each. An evaluation that names run and partition fills that row; one that names no run makes a row
of its own, which is how what was missed is told afterwards (`check_following`).
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

import dagster as dg

# Dagster makes this of its own results, and has no public name for it. Without it, a verdict on a
# partition counts as one on former rows.
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationTargetMaterializationData as JudgedMaterialization,
)
from dagster._core.events import DagsterEventBatchMetadata, generate_event_batch_id

from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.verdicts import Gate
from backfill_platform.engine.look.gate_story import GateStory
from backfill_platform.orchestration.check_results import CheckContent, tell_day, tell_run
from backfill_platform.orchestration.keys import staging_key

PAGE = 500  # partitions or records at once; Dagster hands out a thousand at most

Judged = Mapping[str, JudgedMaterialization]


def find_judged(instance: dg.DagsterInstance, spec: TableSpec, days: Iterable[date]) -> Judged:
    """What is staged now of each day, as Dagster knows it."""
    key, names = staging_key(spec), [day.isoformat() for day in days]
    found: dict[str, JudgedMaterialization] = {}
    for first in range(0, len(names), PAGE):
        page = set(names[first : first + PAGE])
        ids = instance.get_latest_storage_id_by_partition(
            key, dg.DagsterEventType.ASSET_MATERIALIZATION, page
        )
        newest = dg.AssetRecordsFilter(asset_key=key, storage_ids=list(ids.values()))
        records = instance.fetch_materializations(newest, limit=PAGE).records if ids else ()
        found |= {
            record.partition_key: JudgedMaterialization(
                storage_id=record.storage_id, run_id=record.run_id, timestamp=record.timestamp
            )
            for record in records
            if record.partition_key
        }
    return found


def evaluate_days(
    spec: TableSpec, stories: Iterable[GateStory], judged: Judged, evidence: Path
) -> Iterator[dg.AssetCheckEvaluation]:
    for story in stories:
        day = story.verdict.day.isoformat()
        content = tell_day(story, evidence)
        yield _evaluation(spec, story.verdict.gate, content, day, judged.get(day))


def store_evaluations(
    context: dg.OpExecutionContext, evaluations: Iterable[dg.AssetCheckEvaluation]
) -> None:
    """Of this step, together: yielded one by one each would be a transaction of its own."""
    run, step = context.run, context.get_step_execution_context().step.key
    told, batch = [*evaluations], generate_event_batch_id()
    for number, said in enumerate(told, start=1):
        event = dg.DagsterEvent(
            event_type_value=dg.DagsterEventType.ASSET_CHECK_EVALUATION.value,
            job_name=run.job_name,
            step_key=step,
            event_specific_data=said,
            message=f"{said.check_name} of {said.partition}: {said.description}",
        )
        context.instance.report_dagster_event(
            event,
            run.run_id,
            logging.DEBUG,
            batch_metadata=DagsterEventBatchMetadata(batch, is_end=number == len(told)),
        )


def evaluate_gates(
    spec: TableSpec, stories: Sequence[GateStory], gates: Iterable[Gate], evidence: Path
) -> Iterator[dg.AssetCheckEvaluation]:
    """Of all days at once: what lists of checks show is whatever was told last."""
    for gate, of_gate in by_gate(stories).items():
        if gate in gates:
            content = tell_run(of_gate, evidence, days=len(of_gate))
            yield _evaluation(spec, gate, content, None, None)


def by_gate(stories: Iterable[GateStory]) -> Mapping[Gate, list[GateStory]]:
    found: dict[Gate, list[GateStory]] = {}
    for story in stories:
        found.setdefault(story.verdict.gate, []).append(story)
    return found


def _evaluation(
    spec: TableSpec,
    gate: Gate,
    content: CheckContent,
    day: str | None,
    judged: JudgedMaterialization | None,
) -> dg.AssetCheckEvaluation:
    """It blocks nothing: that is what the result of the run is for."""
    return dg.AssetCheckEvaluation(
        asset_key=staging_key(spec),
        check_name=gate.value,
        passed=content.passed,
        severity=content.severity,
        description=content.description,
        metadata=content.metadata,
        blocking=False,
        partition=day,
        target_materialization_data=judged,
    )
