"""The gates of a table as blocking asset checks on its staging asset, with a verdict per partition.

They stop a Dagster run early and fill the dashboard. They are not the lock: the engine refuses to
publish without stored positive verdicts, whoever asks and from whichever run. What an owner has to
review stops nothing here; publication refuses it, in the same launch and in any other.
"""

from collections.abc import Iterable, Iterator, Sequence

import dagster as dg

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.verdicts import Gate
from backfill_platform.engine.look.gate_story import GateStory, read_gate_stories
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration.check_guards import describe_gate
from backfill_platform.orchestration.check_results import tell_run, tell_unjudged
from backfill_platform.orchestration.failures import told_to_dagster
from backfill_platform.orchestration.keys import staging_key
from backfill_platform.orchestration.launches import (
    find_launched_run,
    publishes_too,
    stages_too,
)
from backfill_platform.orchestration.partition_checks import (
    by_gate,
    evaluate_days,
    evaluate_gates,
    find_judged,
    store_evaluations,
)
from backfill_platform.orchestration.partitions import daily_partitions, step_days


def make_gate_checks(platform: Platform, spec: TableSpec) -> dg.AssetChecksDefinition:
    @dg.multi_asset_check(
        name=f"judge_{spec.layer}_{spec.name}",
        specs=[
            dg.AssetCheckSpec(
                name=gate.value,
                asset=staging_key(spec),
                description=describe_gate(spec, gate),
                blocking=True,
                partitions_def=daily_partitions(spec),
            )
            for gate in spec.gates
        ],
    )
    def judge(context: dg.AssetCheckExecutionContext):
        run, days = context.run, step_days(context.op_execution_context)
        with told_to_dagster():
            manifest = find_launched_run(context.instance, run, platform, spec)
            stories = read_gate_stories(platform, manifest, days)
        first = stories if not _is_left_to_publication(run, spec, stories) else _strays(stories)
        judged = find_judged(context.instance, spec, days) if first else {}
        said = evaluate_days(spec, first, judged, platform.evidence)
        store_evaluations(context.op_execution_context, said)
        yield from _results(platform, spec, manifest, stories, days)

    return judge


def tell_checks(
    context: dg.AssetExecutionContext,
    platform: Platform,
    spec: TableSpec,
    manifest: Manifest,
    *,
    is_published: bool,
) -> Iterator[dg.AssetCheckEvaluation]:
    """After publication or its refusal: of each day that passed, where this run has staged it; and
    where it is published, what has become of those that did not pass."""
    days = step_days(context)
    stories = read_gate_stories(platform, manifest, days)
    strays = _strays(stories) if is_published else []
    passed = [story for story in stories if story.verdict.has_passed]
    told = [*(passed if stages_too(context.run, spec) else ()), *strays]
    judged = find_judged(context.instance, spec, days) if told else {}
    said = evaluate_days(spec, told, judged, platform.evidence)
    store_evaluations(context.op_execution_context, said)
    gates = {story.verdict.gate for story in strays}
    yield from evaluate_gates(spec, stories, gates, platform.evidence)


def _is_left_to_publication(
    run: dg.DagsterRun, spec: TableSpec, stories: Iterable[GateStory]
) -> bool:
    """Storing an evaluation takes Dagster some milliseconds, and there is one for each day and
    gate: where publication follows, those that passed are told after it."""
    is_refused = any(story.verdict.is_refusal for story in stories)
    return publishes_too(run, spec) and not is_refused


def _strays(stories: Iterable[GateStory]) -> list[GateStory]:
    return [story for story in stories if not story.verdict.has_passed]


def _results(
    platform: Platform,
    spec: TableSpec,
    manifest: Manifest,
    stories: Sequence[GateStory],
    days: DayRange,
) -> Iterator[dg.AssetCheckResult]:
    """Last, so that lists of checks show them."""
    judged = by_gate(stories)
    for gate in spec.gates:
        yield _result(platform, spec, manifest, gate, judged.get(gate, []), days)


def _result(
    platform: Platform,
    spec: TableSpec,
    manifest: Manifest,
    gate: Gate,
    stories: Sequence[GateStory],
    days: DayRange,
) -> dg.AssetCheckResult:
    if stories:
        content = tell_run(stories, platform.evidence, days=len(days))
    else:
        content = tell_unjudged(manifest, gate)
    return dg.AssetCheckResult(
        check_name=gate.value,
        asset_key=staging_key(spec),
        passed=content.passed,
        severity=content.severity,
        description=content.description,
        metadata=content.metadata,
    )
