"""Tells Dagster of runs whose process has died, so that their place in the queue is free again.

Dagster's local launcher notices that only while its code server lives; after a restart such a run
would count as started for ever. Only a process of this machine can be known to be gone.
"""

import json
import socket

import dagster as dg
from dagster._core.storage.tags import GRPC_INFO_TAG  # no public name for it

from backfill_platform.engine.recover.liveness import is_gone
from backfill_platform.orchestration import tags

_LIMIT = 100
_BETWEEN = " for "


def sign(instance: dg.DagsterInstance, run_id: str, worker: str) -> None:
    """With the run's own id: one that is executed again inherits the tags of the one that died."""
    instance.add_run_tags(run_id, {tags.WORKER: f"{worker}{_BETWEEN}{run_id}"})


def end_dead_runs(instance: dg.DagsterInstance) -> tuple[str, ...]:
    """Their ids."""
    started = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])
    return tuple(
        run.run_id
        for run in instance.get_runs(started, limit=_LIMIT)
        if _end_if_dead(instance, run)
    )


def _end_if_dead(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    worker = _signed_by(run) or _local_process(instance, run)
    if not is_gone(worker):
        return False
    looked_again = instance.get_run_by_id(run.run_id)  # it may have ended in between
    if looked_again is None or looked_again.status is not dg.DagsterRunStatus.STARTED:
        return False
    instance.report_run_failed(run, f"Its process {worker} is gone, and nobody carries it out.")
    return True


def _signed_by(run: dg.DagsterRun) -> str:
    worker, _, run_id = run.tags.get(tags.WORKER, "").partition(_BETWEEN)
    return worker if run_id == run.run_id else ""


def _local_process(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str:
    """Of a run that has not come to its first step: the process that Dagster has noted. A code
    server behind a socket of the file system, and so its processes, are on this machine."""
    if "socket" not in json.loads(run.tags.get(GRPC_INFO_TAG, "{}")):
        return ""
    noted = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT)
    pids = [
        entry.dagster_event.engine_event_data.metadata["pid"].value
        for entry in noted
        if entry.dagster_event and "pid" in entry.dagster_event.engine_event_data.metadata
    ]
    return f"{socket.gethostname()}:{pids[-1]}" if pids else ""
