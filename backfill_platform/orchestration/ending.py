"""Ends the Dagster backfills that carry nothing but runs that have ended, as their page would.

Without it every chunk that is left would be launched, only to be refused. A backfill that still
carries a run of another table goes on: its chunks of the cancelled run are refused one by one.
"""

from collections.abc import Iterator

import dagster as dg

# Dagster has no public name for the state of a backfill; its page writes it in the same way.
from dagster._core.execution.backfill import BulkActionStatus

from backfill_platform.domain.lifecycle import IN_FLIGHT
from backfill_platform.domain.runs import RunRecord
from backfill_platform.ledger.store import Ledger
from backfill_platform.orchestration import tags

_NEWEST = 50  # Dagster runs of the run, among which a backfill that still goes on is found


def end_backfills(
    instance: dg.DagsterInstance, ledger: Ledger, ended: RunRecord
) -> tuple[str, ...]:
    """Those that were ended now; doing it twice ends nothing more."""
    if ledger.runs(group=ended.group_id, states=IN_FLIGHT, limit=1):
        return ()
    return tuple(
        backfill_id
        for backfill_id in dict.fromkeys(_carrying(instance, ended))
        if _end(instance, backfill_id)
    )


def _carrying(instance: dg.DagsterInstance, ended: RunRecord) -> Iterator[str]:
    of_run = dg.RunsFilter(tags={tags.RUN_ID_PREFIX + ended.table: ended.run_id})
    for run in instance.get_runs(of_run, limit=_NEWEST):
        if tags.BACKFILL_ID in run.tags:
            yield run.tags[tags.BACKFILL_ID]


def _end(instance: dg.DagsterInstance, backfill_id: str) -> bool:
    backfill = instance.get_backfill(backfill_id)
    if backfill is None or backfill.status is not BulkActionStatus.REQUESTED:
        return False
    instance.update_backfill(backfill.with_status(BulkActionStatus.CANCELING))
    return True
