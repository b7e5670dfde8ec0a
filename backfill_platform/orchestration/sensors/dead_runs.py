"""Tells Dagster of runs whose process has died, so that their place in the queue is free again.

Dagster's local launcher notices that only while its code server lives; after a restart such a run
would count as started for ever. Only a process of this machine can be known to be gone.
"""

import dagster as dg

from backfill_platform.engine.recover.liveness import is_gone
from backfill_platform.orchestration import tags

_LIMIT = 100


def end_dead_runs(instance: dg.DagsterInstance) -> tuple[str, ...]:
    """Their ids. A worker writes its name on its run when its first step begins."""
    started = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])
    return tuple(
        run.run_id
        for run in instance.get_runs(started, limit=_LIMIT)
        if _end_if_dead(instance, run)
    )


def _end_if_dead(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    worker = run.tags.get(tags.WORKER, "")
    if not is_gone(worker):
        return False
    looked_again = instance.get_run_by_id(run.run_id)  # it may have ended in between
    if looked_again is None or looked_again.status is not dg.DagsterRunStatus.STARTED:
        return False
    instance.report_run_failed(run, f"Its process {worker} is gone, and nobody carries it out.")
    return True
