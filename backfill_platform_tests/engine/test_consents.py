"""Consent at the two places where it holds: before computing, and before publication."""

from dataclasses import replace
from datetime import timedelta

import pytest

from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.errors import (
    ApprovalMissing,
    ApprovalRefused,
    GateFailed,
    ManifestDrifted,
    RunStopped,
)
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run, start_run
from backfill_platform.engine.consent.approving import decide, draft_approval
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import load_policy
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.records import bundle
from backfill_platform.settings import PROJECT
from backfill_platform_tests.readings import BRONZE, week

DAYS = week()
LEAD = "data-engineering-lead"


@pytest.fixture
def strict(platform):
    """The shipped policy: seven days need the data engineering lead before publication."""
    return replace(platform, policy=load_policy(PROJECT / "governance.yaml"))


@pytest.fixture
def staged(strict, spark, intent):
    """A run of seven days that is computed and judged, and that nobody has approved."""
    manifest = open_run(strict, intent(BRONZE, DAYS, "staged"))
    stage_chunk(strict, spark, manifest.run_id, DAYS)
    return manifest


def approve(platform, run_id, principal=LEAD, **given):
    return decide(platform, draft_approval(platform, run_id, principal=principal, **given))


def test_publication_is_refused_without_the_approvals_that_the_policy_asks_for(strict, staged):
    assert strict.ledger.run(staged.run_id).state is RunState.AWAITING_PUBLISH
    with pytest.raises(ApprovalMissing, match=f"needs the approval of {LEAD}"):
        publish_chunk(strict, staged.run_id, DAYS)
    assert strict.ledger.accepted(BRONZE, DAYS) == {}


def test_publication_goes_on_once_the_approval_is_there(strict, staged):
    given = approve(strict, staged.run_id, reason="the diff is as announced")
    publish_chunk(strict, staged.run_id, DAYS)
    assert given.consent.missing == ()
    assert strict.ledger.run(staged.run_id).state is RunState.PUBLISHED
    kinds = [record.kind for record in bundle(strict, staged.run_id).records()]
    assert kinds == ["plan", "examination", "verdicts", "approval", "publication"]


def test_approving_twice_is_approving_once(strict, staged):
    first = approve(strict, staged.run_id)
    again = approve(strict, staged.run_id)
    assert (first.was_known, again.was_known) == (False, True)
    assert strict.ledger.approvals(staged.run_id) == (first.approval,)


def test_an_approval_that_has_expired_does_not_publish(strict, staged):
    given = approve(strict, staged.run_id)
    later = replace(strict, clock=lambda: given.approval.expires_at + timedelta(seconds=1))
    with pytest.raises(ApprovalMissing, match="expired"):
        publish_chunk(later, staged.run_id, DAYS)


def test_the_requester_does_not_approve_the_own_run(strict, intent):
    planned = plan_run(strict, intent(BRONZE, DAYS, "own", requested_by=LEAD))
    with pytest.raises(ApprovalRefused, match="nobody decides on their own request"):
        approve(strict, planned.run_id)
    assert strict.ledger.approvals(planned.run_id) == ()


def test_a_rejection_with_its_reason_ends_the_run(strict, staged):
    approve(strict, staged.run_id, decision=Decision.REJECTED, reason="wrong calendar")
    with pytest.raises(RunStopped, match="REJECTED"):
        publish_chunk(strict, staged.run_id, DAYS)
    assert strict.ledger.accepted(BRONZE, DAYS) == {}


def test_a_rejection_without_a_reason_is_refused(strict, staged):
    with pytest.raises(ApprovalRefused, match="needs a reason"):
        approve(strict, staged.run_id, decision=Decision.REJECTED)
    assert strict.ledger.run(staged.run_id).state is RunState.AWAITING_PUBLISH


def test_a_policy_that_asks_for_more_since_the_plan_is_drift(platform, strict, intent):
    planned = plan_run(platform, intent(BRONZE, DAYS, "lax"))
    with pytest.raises(ManifestDrifted, match="planned under rule 'nobody'"):
        start_run(strict, planned.run_id)


def test_what_needs_signatures_before_computing_waits_in_its_first_step(strict, intent):
    planned = plan_run(strict, intent(BRONZE, DAYS, "everything", is_full=True))
    assert strict.ledger.run(planned.run_id).state is RunState.AWAITING_APPROVAL
    with pytest.raises(ApprovalMissing, match="director"):
        start_run(strict, planned.run_id)
    with pytest.raises(ApprovalRefused, match="sign"):
        approve(strict, planned.run_id, principal="director")


def test_a_launch_that_would_publish_without_consent_is_told_both_roads_at_once(strict, intent):
    with pytest.raises(ApprovalMissing, match=r"approve first .* or review first") as refused:
        open_run(strict, intent(BRONZE, DAYS, "all at once"), publishes=DAYS)
    (planned,) = strict.ledger.runs()
    assert f"backfill/run: {planned.run_id}" in str(refused.value)
    assert strict.ledger.chunks(planned.run_id) == ()


def test_a_run_for_publication_by_hand_waits_for_a_hand(platform, spark, intent):
    manifest = open_run(platform, intent(BRONZE, DAYS, "by hand", requires_manual_publish=True))
    stage_chunk(platform, spark, manifest.run_id, DAYS)
    assert platform.ledger.run(manifest.run_id).state is RunState.AWAITING_PUBLISH
    with pytest.raises(ApprovalMissing, match="published by hand"):
        publish_chunk(platform, manifest.run_id, DAYS, by_hand=False)
    publish_chunk(platform, manifest.run_id, DAYS)
    assert platform.ledger.run(manifest.run_id).state is RunState.PUBLISHED


def test_consent_alone_publishes_nothing_that_was_not_judged(strict, intent):
    planned = plan_run(strict, intent(BRONZE, DAYS, "early consent"))
    approve(strict, planned.run_id)
    start_run(strict, planned.run_id)
    with pytest.raises(GateFailed, match="negative or missing"):
        publish_chunk(strict, planned.run_id, DAYS)
