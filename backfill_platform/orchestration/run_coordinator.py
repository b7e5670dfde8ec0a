"""Writes into each launched run what the queue and the jobs have to know of it: every run passes
here, whoever launched it and whatever somebody typed.

Who is signed in, as the proxy before the webserver says: Dagster hands a request's headers to its
run coordinator and to nobody else. What the launchpad says under that tag is overwritten, so it is
the proxy's word or nothing. Runs that a daemon submits have no request: a retry keeps the name of
whoever launched the run that it repeats. And whether the run gives way in the queue, so that the
daily load finds a place: a tag limit counts only runs that carry its tag.
"""

from dagster._core.run_coordinator.base import SubmitRunContext  # no public name for it
from dagster._core.run_coordinator.queued_run_coordinator import QueuedRunCoordinator
from dagster._core.storage.dagster_run import DagsterRun
from dagster._core.workspace.context import WorkspaceRequestContext

from backfill_platform.domain.modes import RunKind
from backfill_platform.orchestration import tags
from backfill_platform.settings import load_settings


class SigningCoordinator(QueuedRunCoordinator):
    """Dagster's own queue, with some tags more on what it takes in."""

    def submit_run(self, context: SubmitRunContext) -> DagsterRun:
        run = context.dagster_run
        written = _signed_in(context) | ({tags.GIVES_WAY: "true"} if gives_way(run) else {})
        if written:
            self._instance.add_run_tags(run.run_id, written)
        return super().submit_run(context)


def gives_way(run: DagsterRun) -> bool:
    """What computes anything but the daily load, and so live days that are loaded as a backfill,
    too. Publication takes no time worth a limit, and what somebody decides in the UI must not wait
    for a computation."""
    is_live = run.tags.get(tags.KIND, "").upper() == RunKind.LIVE
    if is_live and tags.BACKFILL_ID not in run.tags:
        return False
    return any(key.path[0] == "staging" for key in run.asset_selection or ())


def _signed_in(context: SubmitRunContext) -> dict[str, str]:
    header = load_settings().identity_header
    if not header or not _is_a_request(context):
        return {}
    return {tags.IDENTITY: (context.get_request_header(header) or "").strip()}


def _is_a_request(context: SubmitRunContext) -> bool:
    workspace = context.workspace
    return isinstance(workspace, WorkspaceRequestContext) and workspace.source is not None
