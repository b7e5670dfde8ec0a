"""Where a run stands is read from the ledger alone, and says what it waits for and what is next."""

from dataclasses import replace
from datetime import timedelta

import pytest

from backfill_platform.domain.approvals import Approval, ConsentPoint, Decision, Requirement
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import ReplacedManifest
from backfill_platform.domain.verdicts import Gate, Outcome, Verdict
from backfill_platform.engine.look.next_step import missing_roles, next_step
from backfill_platform.engine.look.speed import measure_pace
from backfill_platform.engine.look.status import count_verdicts, follow_status, read_status
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform_tests.engine.lives import (
    NOW,
    after,
    claim,
    move,
    publish_whole,
    stage,
    stage_whole,
)
from backfill_platform_tests.readings import BRONZE, week

S = RunState
DAYS = week(days=6)
FIRST, SECOND = DAYS.split(5)


@pytest.fixture
def manifest(platform, intent):
    return plan_run(platform, intent(BRONZE, DAYS, "status"))


@pytest.fixture
def asking(manifest):
    """The same plan under a rule that asks two people before anything is computed."""
    asked = Requirement(
        rule="two",
        roles=("lead", "manager"),
        before=ConsentPoint.STAGING,
        signed=True,
        valid_hours=24,
        notify=(),
    )
    return replace(manifest, approval=asked)


def approval(manifest, principal, role, **changes):
    given = {
        "run_id": manifest.run_id,
        "manifest_digest": manifest.digest,
        "principal": principal,
        "role": role,
        "decision": Decision.APPROVED,
        "reason": "",
        "decided_at": NOW,
        "expires_at": NOW + timedelta(hours=24),
    }
    return Approval(**(given | changes))


def test_a_planned_run_waits_for_somebody_to_run_it(platform, manifest):
    found = read_status(platform.ledger, manifest.run_id, NOW)
    assert found.next_step.commands == (f"backfill run {manifest.run_id}",)
    assert (found.staged, found.published, found.partitions) == (0, 0, 6)
    assert not found.is_at_rest


def test_what_was_taken_stands_beside_the_estimate(platform, manifest):
    stage_whole_in_two(platform.ledger, manifest)
    taken = read_status(platform.ledger, manifest.run_id, NOW).taken
    assert (taken.rows_read, taken.rows_planned, taken.rows_out, taken.seconds) == (12, 12, 12, 24)
    assert taken.cost_usd == manifest.estimate.cost_usd.expected


def stage_whole_in_two(ledger, manifest):
    move(ledger, manifest, S.PLANNED, S.APPROVED, S.STAGING)
    stage(ledger, manifest, FIRST, seconds=20)
    stage(ledger, manifest, SECOND, seconds=4)


def test_nothing_is_taken_before_a_chunk_has_counted(platform, manifest):
    taken = read_status(platform.ledger, manifest.run_id, NOW).taken
    assert (taken.rows_read, taken.cost_usd) == (None, None)


def test_verdicts_are_counted_by_gate_with_the_first_that_strays(platform, manifest):
    move(platform.ledger, manifest, S.PLANNED, S.APPROVED, S.STAGING)
    stage(platform.ledger, manifest, FIRST, failing={Gate.KEY_UNIQUE})
    gates = {one.gate: one for one in read_status(platform.ledger, manifest.run_id, NOW).gates}
    unique = gates[Gate.KEY_UNIQUE]
    assert (unique.passed, unique.failed) == (0, 5)
    assert unique.first_stray == "2025-01-01: 25 rows repeat the key"
    assert list(gates) == list(Gate)


def test_a_published_run_waits_for_nothing(platform, manifest):
    stage_whole(platform.ledger, manifest)
    publish_whole(platform.ledger, manifest)
    found = read_status(platform.ledger, manifest.run_id, NOW)
    assert (found.published, found.next_step.waits_for, found.is_at_rest) == (6, "", True)


@pytest.mark.parametrize("state", RunState)
def test_every_state_has_a_next_command(manifest, state):
    assert next_step(state, manifest, ()).commands


def test_roles_are_missing_until_others_than_the_requester_agreed(asking):
    given = (
        approval(asking, "lea", "lead"),
        approval(asking, asking.requested_by, "manager"),
    )
    assert missing_roles(asking, given, NOW) == ("manager",)


@pytest.mark.parametrize(
    "flaw",
    [
        {"manifest_digest": "0" * 64},
        {"expires_at": NOW},
        {"decision": Decision.REJECTED},
        {"principal": "TESTS"},
    ],
)
def test_an_approval_with_a_flaw_leaves_its_role_missing(asking, flaw):
    given = (approval(asking, **({"principal": "lea", "role": "lead"} | flaw)),)
    assert missing_roles(asking, given, NOW) == ("lead", "manager")


def test_consent_before_staging_is_asked_for_first(asking):
    step = next_step(S.AWAITING_APPROVAL, asking, ("lead", "manager"))
    assert step.waits_for_somebody
    assert step.commands == (
        f"backfill show {asking.run_id}",
        f"backfill approve {asking.run_id} --as NAME --role lead --key FILE",
        f"backfill approve {asking.run_id} --as NAME --role manager --key FILE",
    )


def test_consent_before_publication_does_not_keep_a_run_from_being_computed(manifest):
    later = replace(manifest.approval, roles=("lead",), before=ConsentPoint.PUBLICATION)
    step = next_step(S.PLANNED, replace(manifest, approval=later), ("lead",))
    assert step.commands == (f"backfill run {manifest.run_id}",)


def test_a_validated_run_that_lacks_consent_is_compared_and_then_approved(manifest):
    later = replace(manifest.approval, roles=("lead",), before=ConsentPoint.PUBLICATION)
    step = next_step(S.AWAITING_PUBLISH, replace(manifest, approval=later), ("lead",))
    assert step.commands == (
        f"backfill compare {manifest.run_id}",
        f"backfill approve {manifest.run_id} --as NAME --role lead",
    )


def test_a_rollback_is_carried_out_by_asking_for_it_again(manifest):
    undone = ReplacedManifest(run_id=RunId("bf-1"), manifest_digest="d")
    step = next_step(S.AWAITING_APPROVAL, replace(manifest, undoes=undone), ())
    assert step.commands == (f'backfill rollback bf-1 --days "{DAYS}"',)


def test_following_ends_when_the_run_has_come_to_rest(platform, manifest):
    stage_whole(platform.ledger, manifest)

    def look():
        return read_status(platform.ledger, manifest.run_id, NOW)

    looks = [*follow_status(look, pytest.fail)]
    assert [look.run.state for look in looks] == [S.VALIDATED]


def test_following_looks_again_while_the_run_moves(platform, manifest):
    def look():
        return read_status(platform.ledger, manifest.run_id, NOW)

    looks = follow_status(look, lambda: stage_whole(platform.ledger, manifest))
    assert [status.run.state for status in looks] == [S.PLANNED, S.VALIDATED]


def test_the_time_left_is_measured_by_what_partitions_have_taken(platform, manifest):
    move(platform.ledger, manifest, S.PLANNED, S.APPROVED, S.STAGING)
    stage(platform.ledger, manifest, FIRST, seconds=20)
    claim(platform.ledger, manifest, SECOND, now=after(20))
    pace = measure_pace(read_status(platform.ledger, manifest.run_id, NOW), after(21))
    assert (pace.seconds_left, pace.is_measured) == (3, True)


def test_the_time_left_is_the_estimate_before_anything_is_staged(platform, manifest):
    pace = measure_pace(read_status(platform.ledger, manifest.run_id, NOW), NOW)
    assert (pace.seconds_left, pace.is_measured) == (manifest.estimate.seconds.expected, False)


def test_nothing_is_left_of_a_run_at_rest(platform, manifest):
    stage_whole(platform.ledger, manifest)
    assert (
        measure_pace(read_status(platform.ledger, manifest.run_id, NOW), NOW).seconds_left is None
    )


def test_what_is_held_waits_for_an_owner_before_it_waits_for_anybody(manifest):
    later = replace(manifest.approval, roles=("lead",), before=ConsentPoint.PUBLICATION)
    step = next_step(S.AWAITING_PUBLISH, replace(manifest, approval=later), ("lead",), held=3)
    assert step.waits_for == (
        "the review of 3 held verdicts by an owner, and the approval of lead before it is published"
    )
    assert step.commands == (
        f"backfill compare {manifest.run_id}",
        f"backfill review {manifest.run_id}",
        f"backfill approve {manifest.run_id} --as NAME --role lead",
    )


@pytest.mark.parametrize("state", [S.VALIDATED, S.AWAITING_PUBLISH, S.PUBLISHING])
def test_a_held_run_waits_for_somebody_until_it_is_published(manifest, state):
    step = next_step(state, manifest, (), held=1)
    assert (step.waits_for, step.waits_for_somebody) == (
        "the review of 1 held verdict by an owner",
        True,
    )


def test_the_worst_of_a_gate_is_told_first():
    said = [
        Verdict(gate=Gate.LATE_DATA, day=day, outcome=outcome, expected="", found="", message="m")
        for day, outcome in zip(FIRST, Outcome, strict=False)
    ]
    (count,) = count_verdicts(tuple(said))
    assert (count.passed, count.warned, count.held, count.failed) == (1, 1, 1, 1)
    assert count.first_stray == f"{[*FIRST][3]}: m"
