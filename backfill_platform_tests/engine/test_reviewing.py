"""What gates hold is published after an owner's word on exactly that, and never before."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.errors import ApprovalMissing, ApprovalRefused
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import PublishScope
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.reviews import Review
from backfill_platform.engine.consent.held import held_of
from backfill_platform.engine.consent.reviewing import Reviewed, draft_review, review_run
from backfill_platform.engine.look.verifying import verify_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.records import bundle
from backfill_platform.governance.policy_file import read_policy
from backfill_platform_tests.engine.by_hand import stage_by_hand, stage_chunk_by_hand
from backfill_platform_tests.readings import BRONZE, week

DAYS = week(days=4)
FIRST, SECOND = DAYS.split(2)
METERS = dict.fromkeys(DAYS, ("a", "b"))
POLICY = """\
plan_valid_hours: 72
principals:
  bo: {roles: [meters]}
  cy: {roles: [meters]}
  tests: {roles: [meters]}
rules:
  - {name: nobody, when: otherwise, ask: nobody}
rates:
  default: {low: 1, high: 3}
"""

Plan = Callable[..., Manifest]


@pytest.fixture
def owned(platform: Platform) -> Platform:
    """Nobody has to agree to a run; whoever owns the meters reviews what is held."""
    return replace(platform, policy=read_policy(POLICY, origin="governance.yaml"))


@pytest.fixture
def plan(owned: Platform, intent: Callable[..., Any]) -> Plan:
    def make(days: DayRange = DAYS, **changes: Any) -> Manifest:
        return plan_run(owned, intent(BRONZE, days, "held", **changes))

    return make


@pytest.fixture
def held(owned: Platform, plan: Plan) -> Manifest:
    """Two chunks, of which the second is held on its last day."""
    manifest = plan()
    stage_by_hand(owned, manifest, METERS, (FIRST, SECOND), held=[SECOND.last])
    return manifest


def draft(platform: Platform, manifest: Manifest, principal: str = "bo", **said: Any) -> Review:
    given = {"decision": Decision.APPROVED, "reason": "meters were taken out"} | said
    return draft_review(platform, manifest.run_id, principal=principal, **given)


def review(platform: Platform, manifest: Manifest, principal: str = "bo", **said: Any) -> Reviewed:
    return review_run(platform, draft(platform, manifest, principal, **said))


def test_a_held_run_says_whom_it_waits_for_and_why(owned: Platform, held: Manifest) -> None:
    record, last = owned.ledger.run(held.run_id), owned.ledger.events(held.run_id)[-1]
    assert (record.state, last.cause) == (
        RunState.AWAITING_PUBLISH,
        "publication waits for the review of 1 held verdict by an owner (first change_expected of "
        "2025-01-04: meters fell by 80.0 % (from 10 to 2); up to 20 % is usual)",
    )


def test_what_is_held_is_never_published_without_a_review_of_exactly_it(
    owned: Platform, held: Manifest
) -> None:
    with pytest.raises(ApprovalMissing) as refused:
        publish_chunk(owned, held.run_id, DAYS)
    assert str(refused.value) == (
        f"Run {held.run_id} waits for the review of 1 held verdict by an owner (first "
        "change_expected of 2025-01-04: meters fell by 80.0 % (from 10 to 2); up to 20 % is "
        f"usual), so nothing is published; look at it with `backfill compare {held.run_id}` and "
        f"decide with `backfill review {held.run_id}`"
    )
    assert owned.ledger.accepted(BRONZE, DAYS) == {}


def test_it_is_published_once_it_was_reviewed(owned: Platform, held: Manifest) -> None:
    review(owned, held)
    publish_chunk(owned, held.run_id, DAYS)
    assert owned.ledger.run(held.run_id).state is RunState.PUBLISHED


def test_what_nobody_holds_of_a_held_run_is_published_meanwhile(
    owned: Platform, held: Manifest
) -> None:
    publish_chunk(owned, held.run_id, FIRST)
    review(owned, held)
    publish_chunk(owned, held.run_id, SECOND)
    assert owned.ledger.run(held.run_id).state is RunState.PUBLISHED


def test_a_review_of_what_was_staged_before_lets_nothing_through(
    owned: Platform, held: Manifest
) -> None:
    review(owned, held)
    (_, chunk) = owned.ledger.chunks(held.run_id)
    owned.ledger.fail_chunk(
        held.run_id, chunk.chunk_id, chunk.fencing_token, error="x", now=owned.clock()
    )
    stage_chunk_by_hand(owned, held, SECOND, METERS, held=[SECOND.last])
    with pytest.raises(ApprovalMissing, match="1 held verdict by an owner"):
        publish_chunk(owned, held.run_id, DAYS)


def test_a_review_of_one_chunk_lets_no_other_through(owned: Platform, plan: Plan) -> None:
    manifest = plan()
    stage_by_hand(owned, manifest, METERS, (FIRST,), held=DAYS)
    review(owned, manifest)
    stage_chunk_by_hand(owned, manifest, SECOND, METERS, held=DAYS)
    with pytest.raises(ApprovalMissing, match="2 held verdicts by an owner"):
        publish_chunk(owned, manifest.run_id, SECOND)
    assert draft(owned, manifest).chunks.keys() == {str(SECOND)}


def test_a_review_of_somebody_who_lost_the_role_counts_no_longer(
    owned: Platform, held: Manifest
) -> None:
    review(owned, held)
    text = POLICY.replace("bo: {roles: [meters]}", "bo: {roles: [meters], revoked: true}")
    today = replace(owned, policy=read_policy(text, origin="governance.yaml"))
    with pytest.raises(ApprovalMissing, match="held verdict"):
        publish_chunk(today, held.run_id, DAYS)
    review(today, held, "cy")
    publish_chunk(today, held.run_id, DAYS)
    assert owned.ledger.run(held.run_id).state is RunState.PUBLISHED


def test_whoever_requested_a_run_does_not_review_it(owned: Platform, held: Manifest) -> None:
    with pytest.raises(ApprovalRefused, match="'tests' requested the run"):
        review(owned, held, "tests")
    assert held_of(owned, held).unreviewed != ()


def test_reviewing_twice_equals_reviewing_once(owned: Platform, held: Manifest) -> None:
    first = review(owned, held)
    events, records = owned.ledger.events(held.run_id), bundle(owned, held.run_id).records()
    again = review(owned, held, "cy", reason="I say so, too")
    assert (again.review, first.was_known, again.was_known) == (first.review, False, True)
    assert owned.ledger.events(held.run_id) == events
    assert bundle(owned, held.run_id).records() == records


def test_a_review_stands_in_the_evidence(owned: Platform, held: Manifest) -> None:
    given = review(owned, held).review
    last = bundle(owned, held.run_id).records()[-1]
    assert (last.kind, last.body) == ("review", {"text": given.signed_text, "signature": None})


def test_whoever_died_before_it_stood_in_the_evidence_says_it_again(
    owned: Platform, held: Manifest
) -> None:
    given = draft(owned, held)
    owned.ledger.record_review(given, now=owned.clock())
    review(owned, held)
    assert bundle(owned, held.run_id).records()[-1].body["text"] == given.signed_text


def test_a_review_whose_record_is_missing_is_found(owned: Platform, held: Manifest) -> None:
    owned.ledger.record_review(draft(owned, held), now=owned.clock())
    found = verify_run(
        owned.ledger, owned.evidence, held.run_id, check_signature=lambda word: "unused"
    )
    assert found.problems == ("evidence: the record of the review of bo is gone or differs",)
    assert found.notes == ("1 held verdict approved by bo as meters, not signed",)


def test_a_rejection_ends_the_run(owned: Platform, held: Manifest) -> None:
    review(owned, held, decision=Decision.REJECTED, reason="the calendar is wrong")
    again = review(owned, held, decision=Decision.REJECTED, reason="the calendar is wrong")
    assert again.was_known
    assert owned.ledger.run(held.run_id).state is RunState.REJECTED


def test_where_nothing_is_held_there_is_nothing_to_review(owned: Platform, plan: Plan) -> None:
    manifest = plan()
    stage_by_hand(owned, manifest, METERS)
    with pytest.raises(ApprovalRefused, match=r"Nothing of run .* is held"):
        review(owned, manifest)


def test_of_a_run_that_is_never_published_nothing_is_reviewed(owned: Platform, plan: Plan) -> None:
    manifest = plan(publish_scope=PublishScope.DARK)
    stage_by_hand(owned, manifest, METERS, held=DAYS)
    with pytest.raises(ApprovalRefused, match="never published"):
        review(owned, manifest)
    assert owned.ledger.run(manifest.run_id).state is RunState.VALIDATED


def test_the_evidence_of_a_chunk_names_what_is_held(owned: Platform, held: Manifest) -> None:
    said = [one.body for one in bundle(owned, held.run_id).records() if one.kind == "verdicts"]
    assert [(body["failed"], [one["day"] for one in body["held"]]) for body in said] == [
        ([], []),
        ([], ["2025-01-04"]),
    ]
