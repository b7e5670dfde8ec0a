"""The queue of Dagster runs: whatever computes history gives way, so the daily load finds a place.

A tag limit counts only runs that carry its tag, and a launch from the UI carries what somebody
typed. So the tag is written here, where every run passes, whoever launched it.
"""

import dagster as dg
from dagster._core.run_coordinator.base import SubmitRunContext  # no public name for it
from dagster._core.run_coordinator.queued_run_coordinator import QueuedRunCoordinator

from backfill_platform.domain.modes import RunKind
from backfill_platform.orchestration import tags


class HistoryGivesWay(QueuedRunCoordinator):
    """Dagster's own queue, with one tag more on what it takes in."""

    def submit_run(self, context: SubmitRunContext) -> dg.DagsterRun:
        run = context.dagster_run
        if gives_way(run):
            self._instance.add_run_tags(run.run_id, {tags.GIVES_WAY: "true"})
        return super().submit_run(context)


def gives_way(run: dg.DagsterRun) -> bool:
    """What computes anything but the daily load, and so live days that are loaded as a backfill,
    too. Publication takes no time worth a limit, and what somebody decides in the UI must not wait
    for a computation."""
    is_live = run.tags.get(tags.KIND, "").upper() == RunKind.LIVE
    if is_live and tags.BACKFILL_ID not in run.tags:
        return False
    return any(key.path[0] == "staging" for key in run.asset_selection or ())
