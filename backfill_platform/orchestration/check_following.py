"""Makes the checks of a table say of each partition how it was judged last, where they do not.

A process may die between a judgement and what Dagster hears of it, and a run may be judged outside
Dagster. As in `following`, what has to be told is derived from the ledger alone.

Invariant: following twice tells nothing new (test_following_checks_twice_tells_nothing_new).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date

import dagster as dg
from dagster._core.instance.utils import RUNLESS_JOB_NAME
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecord
from sqlalchemy.exc import IntegrityError

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.verdicts import Gate
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.look.gate_story import GateStory, read_gate_stories
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration.check_results import JUDGED_AT, RUN, STANDING
from backfill_platform.orchestration.following import find_behind, follow
from backfill_platform.orchestration.keys import staging_key
from backfill_platform.orchestration.partition_checks import (
    PAGE,
    evaluate_days,
    evaluate_gates,
    find_judged,
)

Tables = Mapping[str, Collection[date]]

Mark = tuple[object, ...]  # of a verdict: whose it is, and what has become of it

_AT_WORK: Mark = ("a Dagster run is at work on it",)


def follow_all_here(platform: Platform, tables: Tables) -> int:
    """What is accepted and how it was judged, in the instance of this process's environment; how
    many partitions had to be told something."""
    with dg.DagsterInstance.get() as instance:
        return sum(
            len(
                {
                    *follow(instance, platform, *of_table),
                    *follow_checks(instance, platform, *of_table),
                }
            )
            for of_table in tables.items()
        )


def count_behind_here(platform: Platform, tables: Tables) -> int:
    """How many partitions `follow_all_here` would tell."""
    with dg.DagsterInstance.get() as instance:
        return sum(len(_behind(instance, platform, *of_table)) for of_table in tables.items())


def _behind(
    instance: dg.DagsterInstance, platform: Platform, table: str, days: Collection[date]
) -> set[date]:
    accepted = find_behind(instance, platform.ledger, table, days)
    judged = find_checks_behind(instance, platform, table, days)
    return {one.day for one in accepted} | {story.verdict.day for story in judged}


def follow_checks(
    instance: dg.DagsterInstance, platform: Platform, table: str, days: Iterable[date]
) -> tuple[date, ...]:
    """The partitions of which something had to be told; what strays is told last."""
    behind = find_checks_behind(instance, platform, table, days)
    if not behind:
        return ()
    spec = platform.catalog.tables[table]
    told = sorted(behind, key=lambda story: not story.verdict.has_passed)
    judged = find_judged(instance, spec, {story.verdict.day for story in told})
    for said in evaluate_days(spec, told, judged, platform.evidence):
        _report(instance, said)
    for said in evaluate_gates(spec, behind, set(spec.gates), platform.evidence):
        _report(instance, said)
    return tuple(sorted({story.verdict.day for story in behind}))


def _report(instance: dg.DagsterInstance, said: dg.AssetCheckEvaluation) -> None:
    """Outside of a run, Dagster takes one result for a check and a partition, and no second one
    (`idx_asset_check_executions_unique`). Under the name of the judged run it takes one more, and
    replaces it when that run is told of again."""
    try:
        instance.report_runless_asset_event(said)
    except IntegrityError:
        event = dg.DagsterEvent(
            event_type_value=dg.DagsterEventType.ASSET_CHECK_EVALUATION.value,
            job_name=RUNLESS_JOB_NAME,
            event_specific_data=said,
        )
        instance.report_dagster_event(event, run_id=str(said.metadata[RUN].value))


def find_checks_behind(
    instance: dg.DagsterInstance, platform: Platform, table: str, days: Iterable[date]
) -> tuple[GateStory, ...]:
    """Newest verdicts of which Dagster says something else, or nothing."""
    spec = platform.catalog.tables.get(table)
    if spec is None:  # not declared any more, so it has no check either
        return ()
    newest = _newest_stories(platform, table, days)
    shown = {gate: _shown(instance, spec, gate, newest) for gate in spec.gates}
    return tuple(
        story
        for story in newest
        if story.verdict.gate in shown
        and shown[story.verdict.gate].get(story.verdict.day, ()) not in _marks(story)
    )


def _newest_stories(platform: Platform, table: str, days: Iterable[date]) -> tuple[GateStory, ...]:
    judged: dict[RunId, list[date]] = {}
    for day, run_id in platform.ledger.judging_runs(table, days).items():
        judged.setdefault(run_id, []).append(day)
    return tuple(
        story
        for run_id, of_run in judged.items()
        for story in read_gate_stories(platform, load_manifest(platform, run_id), of_run)
    )


def _marks(story: GateStory) -> tuple[Mark, ...]:
    """What becomes of a day that passed is said by its materialization."""
    own = (story.run_id, story.judged_at.isoformat())
    if story.verdict.has_passed:
        return _AT_WORK, own
    return _AT_WORK, (*own, story.standing.value)


def _shown(
    instance: dg.DagsterInstance, spec: TableSpec, gate: Gate, stories: Iterable[GateStory]
) -> Mapping[date, Mark]:
    """Of each day the newest row, until every day has one; Dagster has no public way to ask."""
    missing = {story.verdict.day for story in stories if story.verdict.gate is gate}
    found: dict[date, Mark] = {}
    rows = _history(instance, dg.AssetCheckKey(staging_key(spec), gate.value))
    while missing and (row := next(rows, None)):
        day = date.fromisoformat(row.partition) if row.partition else None
        if day is not None and day in missing:
            missing.remove(day)
            found[day] = _mark(instance, row)
    return found


def _history(
    instance: dg.DagsterInstance, key: dg.AssetCheckKey
) -> Iterator[AssetCheckExecutionRecord]:
    cursor = None
    while page := instance.event_log_storage.get_asset_check_execution_history(
        key, limit=PAGE, cursor=cursor
    ):
        yield from page
        cursor = page[-1].id


def _mark(instance: dg.DagsterInstance, row: AssetCheckExecutionRecord) -> Mark:
    """A row that is only planned is filled by its run, or else by nobody."""
    event = row.event.dagster_event if row.event else None
    if event is None or event.event_type is not dg.DagsterEventType.ASSET_CHECK_EVALUATION:
        run = instance.get_run_by_id(row.run_id)
        return () if run is None or run.is_finished else _AT_WORK
    told = event.asset_check_evaluation_data
    names = (RUN, JUDGED_AT) if told.passed else (RUN, JUDGED_AT, STANDING)
    return tuple(told.metadata[name].value for name in names if name in told.metadata)
