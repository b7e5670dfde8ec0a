"""Who is signed in reaches a run's tags from the request that launched it, and only from there."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import dagster as dg
import pytest
from dagster._core.run_coordinator.base import SubmitRunContext
from dagster._core.workspace.context import WorkspaceRequestContext

from backfill_platform.orchestration import tags
from backfill_platform.orchestration.run_coordinator import SigningCoordinator

HEADER = "X-Forwarded-User"


@dataclass(frozen=True)
class Request:
    headers: dict[str, str] = field(default_factory=dict)


@pytest.fixture
def instance(monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    monkeypatch.setenv("BACKFILL_IDENTITY_HEADER", HEADER)
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture
def submitted(instance: dg.DagsterInstance):
    """The tags of a run after it was submitted by this request, or by a daemon."""

    def submit(request: Request | None, **run_tags: str) -> dict[str, str]:
        begun = dg.DagsterRunStatus.STARTING  # to be queued it would need a code location
        run = dg.DagsterRun("approve_run", "one", tags=run_tags, status=begun)
        instance.add_run(run)
        workspace = WorkspaceRequestContext(
            instance=instance,
            current_workspace=cast(Any, None),
            process_context=cast(Any, None),
            version=None,
            source=request,
            read_only=False,
        )
        coordinator = SigningCoordinator()
        coordinator.register_instance(instance)
        return dict(coordinator.submit_run(SubmitRunContext(run, workspace)).tags)

    return submit


def test_whom_the_proxy_signed_in_is_a_tag_of_the_run(submitted):
    assert submitted(Request({HEADER: " ana "}))[tags.IDENTITY] == "ana"


def test_what_a_launchpad_says_in_its_place_is_overwritten(submitted):
    told = submitted(Request({HEADER: "ana"}), **{tags.IDENTITY: "director"})
    assert told[tags.IDENTITY] == "ana"


def test_a_request_past_the_proxy_signs_nobody_in(submitted):
    assert submitted(Request(), **{tags.IDENTITY: "director"})[tags.IDENTITY] == ""


def test_what_a_daemon_repeats_keeps_the_name_of_who_launched_it(submitted):
    assert submitted(None, **{tags.IDENTITY: "ana"})[tags.IDENTITY] == "ana"


def test_nothing_is_written_where_no_header_is_named(submitted, monkeypatch):
    monkeypatch.setenv("BACKFILL_IDENTITY_HEADER", "")
    assert tags.IDENTITY not in submitted(Request({HEADER: "ana"}))
