"""What Dagster knows of a run: which of its launches are still at work, and how others ended.

The ledger knows who has claimed a chunk; only Dagster knows what is queued and will claim one.
"""

from dataclasses import dataclass

import dagster as dg
from dagster._core.execution.backfill import BulkActionStatus  # no public name for it

from backfill_platform.domain.identity import RunId
from backfill_platform.orchestration import tags

MOST_ATTEMPTS = 3  # launches of the same that end without success, before somebody has to look

_LIMIT = 1000
_ROOT = "dagster/root_run_id"  # of what Dagster executes again
_UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.MANAGED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
_BACKFILL_AT_WORK = frozenset(
    {BulkActionStatus.REQUESTED, BulkActionStatus.CANCELING, BulkActionStatus.FAILING}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    runs: tuple[dg.DagsterRun, ...]  # the newest first

    @property
    def is_at_work(self) -> bool:
        return any(not run.is_finished for run in self.runs)

    @property
    def is_cancelled(self) -> bool:
        """Somebody stopped the newest of them."""
        return bool(self.runs) and self.runs[0].status is dg.DagsterRunStatus.CANCELED

    def ended(self, key: dg.AssetKey) -> int:
        """Those about this asset that have ended without success."""
        return sum(
            run.is_finished and not run.is_success and key in (run.asset_selection or ())
            for run in self.runs
        )


def find_launched(instance: dg.DagsterInstance, run_id: RunId, table: str) -> Launched:
    """Those that name the run, and those that turned out to be it."""
    found = {
        record.dagster_run.run_id: record
        for tag in (tags.RUN, f"{tags.RUN_ID_PREFIX}{table}")
        for record in instance.get_run_records(dg.RunsFilter(tags={tag: run_id}), limit=_LIMIT)
    }
    newest_first = sorted(found.values(), key=lambda record: record.storage_id, reverse=True)
    return Launched(runs=tuple(record.dagster_run for record in newest_first))


def is_group_at_work(instance: dg.DagsterInstance, group_id: str) -> bool:
    """Whether the launch that a group came from still has something to do for it. What it has not
    begun yet carries no group, so it is recognized by where the group's name comes from."""
    source, _, name = group_id.partition(":")
    if source == "dagster-backfill" and _is_backfill_at_work(instance, name):
        return True
    tag = {"launch": tags.LAUNCH, "dagster-run": _ROOT}.get(source)
    wanted = [{tags.GROUP: group_id}, *([{tag: name}] if tag else [])]
    return any(
        instance.get_runs(dg.RunsFilter(tags=one, statuses=_UNFINISHED), limit=1) for one in wanted
    )


def _is_backfill_at_work(instance: dg.DagsterInstance, backfill_id: str) -> bool:
    backfill = instance.get_backfill(backfill_id)
    return backfill is not None and backfill.status in _BACKFILL_AT_WORK
