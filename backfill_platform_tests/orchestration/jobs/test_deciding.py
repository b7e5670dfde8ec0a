"""Words on a run, from a launchpad: they count as on the command line, where they are signed."""

from dataclasses import replace

import pytest

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.consent.held import held_of
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform_tests.engine.by_hand import stage_by_hand
from backfill_platform_tests.readings import BRONZE, START, week

LEAD = "data-engineering-lead"
DAYS = week()


@pytest.fixture
def planned(strict: Platform, intent) -> Manifest:
    return plan_run(strict, intent(BRONZE, DAYS, "planned"))


@pytest.fixture
def signing(strict: Platform) -> Platform:
    """The same policy, which asks for signatures everywhere."""
    rules = tuple(replace(rule, signed=bool(rule.roles)) for rule in strict.policy.rules)
    reviews = replace(strict.policy.reviews, signed=True)
    return replace(strict, policy=replace(strict.policy, rules=rules, reviews=reviews))


@pytest.fixture
def held(strict: Platform, planned: Manifest) -> Manifest:
    stage_by_hand(strict, planned, dict.fromkeys(DAYS, ("a",)), held=[START])
    return planned


def test_an_approval_counts_and_the_page_says_that_nobody_is_missing(act, strict, planned):
    acted = act("approve_run", run=planned.run_id, acting_as=LEAD, reason="looked at it")
    (approval,) = strict.ledger.approvals(planned.run_id)
    assert (approval.principal, approval.reason) == (LEAD, "looked at it")
    assert acted.outcome["outcome"] == f"{planned.run_id}: approved by {LEAD} as {LEAD}"
    assert acted.rows("approvals")[0]["agreed"].startswith(f"{LEAD}, until ")


def test_approving_twice_equals_approving_once(act, strict, planned):
    act("approve_run", run=planned.run_id, acting_as=LEAD)
    again = act("approve_run", run=planned.run_id, acting_as=LEAD)
    assert again.outcome["outcome"].endswith("it was recorded before")
    assert len(strict.ledger.approvals(planned.run_id)) == 1


@pytest.mark.parametrize(
    ("principal", "sentence"),
    [
        ("manager", "and 'manager' has no such role"),
        ("nobody", "and 'nobody' has no such role"),
        ("", "say who acts, in `acting_as`"),
    ],
)
def test_a_word_that_does_not_count_is_refused(act, strict, planned, principal, sentence):
    refused = act("approve_run", run=planned.run_id, acting_as=principal)
    assert sentence in refused.refusal
    assert strict.ledger.approvals(planned.run_id) == ()


def test_nobody_approves_their_own_request(act, strict, intent):
    run_id = plan_run(strict, intent(BRONZE, DAYS, "own", requested_by=LEAD)).run_id
    refused = act("approve_run", run=run_id, acting_as=LEAD)
    assert "nobody decides on their own request" in refused.refusal
    assert strict.ledger.approvals(run_id) == ()


def test_an_approval_that_has_to_be_signed_is_refused_with_the_command_to_type(
    launch, signing, intent
):
    run_id = plan_run(signing, intent(BRONZE, DAYS, "signed")).run_id
    refused = launch(signing, "approve_run", run=run_id, acting_as=LEAD)
    command = f"backfill approve {run_id} --as {LEAD} --role {LEAD} --key FILE --confirm"
    assert command in refused.refusal
    assert signing.ledger.approvals(run_id) == ()


def test_a_rejection_ends_the_run_and_needs_no_signature(launch, signing, intent):
    run_id = plan_run(signing, intent(BRONZE, DAYS, "signed")).run_id
    acted = launch(signing, "reject_run", run=run_id, acting_as=LEAD, reason="wrong days")
    assert acted.outcome["state"] == RunState.REJECTED
    assert "no: wrong days" in [row["agreed"] for row in acted.rows("approvals")]


def test_a_rejection_without_a_reason_is_refused(act, strict, planned):
    refused = act("reject_run", run=planned.run_id, acting_as=LEAD, reason=" ")
    assert "needs a reason" in refused.refusal
    assert strict.ledger.run(planned.run_id).state is RunState.PLANNED


def test_what_is_held_is_accepted_by_an_owner(act, strict, held):
    acted = act(
        "review_run", run=held.run_id, acting_as=LEAD, decision="APPROVED", reason="as announced"
    )
    assert f"1 held verdicts accepted by {LEAD}" in acted.outcome["outcome"]
    assert held_of(strict, held).unreviewed == ()


def test_what_is_held_and_wrong_ends_the_run(act, held):
    acted = act(
        "review_run", run=held.run_id, acting_as=LEAD, decision="REJECTED", reason="not announced"
    )
    assert acted.outcome["state"] == RunState.REJECTED


def test_a_review_that_has_to_be_signed_is_refused_with_the_command_to_type(launch, signing, held):
    refused = launch(
        signing, "review_run", run=held.run_id, acting_as=LEAD, decision="APPROVED", reason="fine"
    )
    assert f"backfill review {held.run_id} --accept --as {LEAD}" in refused.refusal
    assert signing.ledger.reviews(held.run_id) == ()


def test_a_review_without_a_reason_is_refused(act, strict, held):
    refused = act("review_run", run=held.run_id, acting_as=LEAD, decision="APPROVED", reason=" ")
    assert "Say why" in refused.refusal
    assert strict.ledger.reviews(held.run_id) == ()


def test_an_unknown_run_is_refused_by_its_name(act):
    assert "bf-nothing" in act("approve_run", run="bf-nothing", acting_as=LEAD).refusal
