"""Writes into each launched run who is signed in, as the proxy before the webserver says.

Dagster hands a request's headers to its run coordinator and to nobody else. What the launchpad says
under that tag is overwritten, so it is the proxy's word or nothing. Runs that a daemon submits have
no request: a retry keeps the name of whoever launched the run that it repeats.
"""

from dagster._core.run_coordinator.base import SubmitRunContext
from dagster._core.run_coordinator.queued_run_coordinator import QueuedRunCoordinator
from dagster._core.storage.dagster_run import DagsterRun
from dagster._core.workspace.context import WorkspaceRequestContext

from backfill_platform.orchestration import tags
from backfill_platform.settings import load_settings


class SignedInRunCoordinator(QueuedRunCoordinator):
    def submit_run(self, context: SubmitRunContext) -> DagsterRun:
        header = load_settings().identity_header
        if header and _is_a_request(context):
            who = (context.get_request_header(header) or "").strip()
            self._instance.add_run_tags(context.dagster_run.run_id, {tags.IDENTITY: who})
        return super().submit_run(context)


def _is_a_request(context: SubmitRunContext) -> bool:
    workspace = context.workspace
    return isinstance(workspace, WorkspaceRequestContext) and workspace.source is not None
