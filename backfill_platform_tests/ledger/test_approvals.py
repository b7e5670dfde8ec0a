"""Decisions on a manifest: kept once, each with its event, and a no ends the run."""

from datetime import datetime, timedelta, timezone

import pytest

from backfill_platform.domain.errors import ApprovalRefused, RunUnknown
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import OPEN_TO_DECISIONS, RunState
from backfill_platform.domain.runs import AlreadyRecorded, Recorded, RunRecord
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    ALONG_THE_ROAD,
    NOW,
    after,
    approval,
    move,
    register,
    rejection,
)

HOUR = timedelta(hours=1)


@pytest.fixture
def run(ledger: Ledger) -> RunRecord:
    return register(ledger)


def test_an_approval_is_kept_as_it_was_given(ledger: Ledger, run: RunRecord) -> None:
    given = approval(run, signature="-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END…")
    recorded = ledger.record_approval(given, now=after(5))
    assert isinstance(recorded, Recorded)
    assert recorded.approval == given
    assert ledger.approvals(run.run_id) == (given,)


def test_an_approval_leaves_an_event_and_the_state_as_it_was(
    ledger: Ledger, run: RunRecord
) -> None:
    recorded = ledger.record_approval(approval(run), now=after(5))
    planned, approved = ledger.events(run.run_id)
    assert (approved.from_state, approved.to_state) == (RunState.PLANNED, RunState.PLANNED)
    assert (approved.actor, approved.at) == ("bo", after(5))
    assert approved.cause == "approved by bo as data-engineering-lead"
    assert approved.details == {
        "approval_id": recorded.approval_id,
        "decision": "APPROVED",
        "principal": "bo",
        "role": "data-engineering-lead",
    }
    assert approved.previous_hash == planned.hash
    assert (recorded.run.state, recorded.run.updated_at) == (RunState.PLANNED, after(5))


def test_the_same_decision_twice_equals_once(ledger: Ledger, run: RunRecord) -> None:
    first = ledger.record_approval(approval(run), now=NOW)
    later = approval(run, decided_at=after(60), reason="again", role="manager")
    again = ledger.record_approval(later, now=after(60))
    assert isinstance(again, AlreadyRecorded)
    assert (again.approval, again.approval_id) == (approval(run), first.approval_id)
    assert ledger.approvals(run.run_id) == (approval(run),)
    assert len(ledger.events(run.run_id)) == 2


def test_a_consent_that_has_expired_may_be_given_anew(ledger: Ledger, run: RunRecord) -> None:
    first = approval(run)
    ledger.record_approval(first, now=NOW)
    renewed = approval(run, decided_at=first.expires_at, expires_at=first.expires_at + HOUR)
    assert isinstance(ledger.record_approval(renewed, now=first.expires_at), Recorded)
    assert ledger.approvals(run.run_id) == (first, renewed)
    assert ledger.verify_run(run.run_id) == ()


def test_each_principal_has_a_decision_of_their_own(ledger: Ledger, run: RunRecord) -> None:
    late = approval(run, "cy", decided_at=after(9))
    ledger.record_approval(late, now=after(10))
    ledger.record_approval(approval(run, "bo"), now=after(10))
    assert ledger.approvals(run.run_id) == (approval(run, "bo"), late)


def test_decisions_on_other_runs_are_not_shown(ledger: Ledger, run: RunRecord) -> None:
    ledger.record_approval(approval(run), now=NOW)
    assert ledger.approvals(register(ledger, "cli:2").run_id) == ()


def test_a_rejection_ends_the_run(ledger: Ledger, run: RunRecord) -> None:
    recorded = ledger.record_approval(rejection(run), now=after(5))
    rejected = ledger.events(run.run_id)[-1]
    assert recorded.run == ledger.run(run.run_id)
    assert recorded.run.state is RunState.REJECTED
    assert (rejected.from_state, rejected.to_state) == (RunState.PLANNED, RunState.REJECTED)
    assert rejected.cause == "rejected by bo as data-engineering-lead: too wide"
    assert rejected.details["approval_id"] == recorded.approval_id


def test_whoever_agreed_may_still_say_no(ledger: Ledger, run: RunRecord) -> None:
    ledger.record_approval(approval(run), now=NOW)
    ledger.record_approval(rejection(run, decided_at=after(9)), now=after(9))
    assert ledger.run(run.run_id).state is RunState.REJECTED
    assert len(ledger.approvals(run.run_id)) == 2


def test_a_rejection_twice_equals_once(ledger: Ledger, run: RunRecord) -> None:
    ledger.record_approval(rejection(run), now=NOW)
    assert isinstance(ledger.record_approval(rejection(run), now=after(9)), AlreadyRecorded)
    assert len(ledger.events(run.run_id)) == 2


def test_nobody_agrees_to_a_run_that_was_rejected(ledger: Ledger, run: RunRecord) -> None:
    ledger.record_approval(rejection(run), now=NOW)
    with pytest.raises(ApprovalRefused, match="is REJECTED, so cy's decision"):
        ledger.record_approval(approval(run, "cy"), now=NOW)
    assert ledger.approvals(run.run_id) == (rejection(run),)


@pytest.mark.parametrize("state", [RunState.PUBLISHING, RunState.PUBLISHED])
def test_a_decision_comes_too_late_once_publication_has_begun(
    ledger: Ledger, run: RunRecord, state: RunState
) -> None:
    move(ledger, run.run_id, *ALONG_THE_ROAD[: ALONG_THE_ROAD.index(state) + 1])
    with pytest.raises(ApprovalRefused, match=f"is {state}"):
        ledger.record_approval(rejection(run), now=NOW)
    assert ledger.run(run.run_id).state is state


def test_a_failed_run_may_be_decided_about(ledger: Ledger, run: RunRecord) -> None:
    move(ledger, run.run_id, *ALONG_THE_ROAD[:3], RunState.FAILED)
    assert RunState.FAILED in OPEN_TO_DECISIONS
    assert ledger.record_approval(rejection(run), now=NOW).run.state is RunState.REJECTED


def test_an_approval_of_another_manifest_is_refused(ledger: Ledger, run: RunRecord) -> None:
    stale = approval(run, manifest_digest="0" * 64)
    with pytest.raises(ApprovalRefused, match="decided about manifest 000000000000"):
        ledger.record_approval(stale, now=NOW)
    assert ledger.approvals(run.run_id) == ()
    assert len(ledger.events(run.run_id)) == 1


def test_an_approval_of_an_unknown_run_is_refused(ledger: Ledger, run: RunRecord) -> None:
    with pytest.raises(RunUnknown, match="bf-none"):
        ledger.record_approval(approval(run, run_id=RunId("bf-none")), now=NOW)


def test_an_instant_that_would_come_back_as_another_text_is_refused(
    ledger: Ledger, run: RunRecord
) -> None:
    elsewhere = datetime(2026, 7, 4, 11, tzinfo=timezone(timedelta(hours=2)))
    with pytest.raises(ValueError, match="not UTC"):
        ledger.record_approval(approval(run, decided_at=elsewhere), now=NOW)
