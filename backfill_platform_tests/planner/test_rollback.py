"""From a run, ledger histories and the target's log to a rollback, or every reason against it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from backfill_platform.domain.approvals import ProposedChange, Requirement
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.findings import Check, Finding, Severity
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import (
    Manifest,
    ReplacedManifest,
    manifest_from_json,
    manifest_json,
)
from backfill_platform.domain.modes import ExecutionMode, RunKind
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.privacy import PinnedDeletions
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.domain.tables import Input
from backfill_platform.planner.facts import TargetFacts
from backfill_platform.planner.owed import owed_entry, shown_entry
from backfill_platform.planner.rollback import build_rollback, former_versions
from backfill_platform.planner.rollback_facts import FormerDay, RollbackFacts, RollbackRequest
from backfill_platform_tests.declarations import make_table
from backfill_platform_tests.planner.worlds import (
    CATALOG,
    NOW,
    OTHER_RUN,
    REQUIREMENT,
    RUN,
    TERMS,
    another_run,
    make_world,
    plan,
)
from backfill_platform_tests.planner.worlds import days as some_days

FIRST, SECOND, THIRD = date(2025, 3, 1), date(2025, 3, 2), date(2025, 3, 3)
DAYS = (FIRST, SECOND, THIRD)
BEFORE_IT = RunId("bf-20260701-cases-1.2.0-001")
LATER = RunId("bf-20260704-cases-1.10.0-007")
ROLLBACK = RunId("bf-20260704-cases-1.10.0-008")
ROLLED_BACK_BY = RunId("bf-20260704-cases-1.10.0-009")
UNDONE = plan()  # run RUN
LANDED = NOW - timedelta(hours=100)

REQUEST = RollbackRequest(
    run_id=RUN, days=None, reason="wrong again", requested_by="on-call", ticket="T-8"
)


def entry(run_id: RunId, day: date, version: int) -> AcceptedPartition:
    return AcceptedPartition(
        table="silver.cases",
        day=day,
        run_id=run_id,
        row_count=3,
        checksum=f"sum of {run_id}",
        target_version=version,
        publication_id=f"{run_id}/{day}",
        accepted_at=LANDED,
        superseded_at=None,
        superseded_by_run_id=None,
    )


def former(version: int, **changes) -> FormerDay:
    return replace(FormerDay(version=version, rows=3, missing=(), replaced_at=LANDED), **changes)


FACTS = RollbackFacts(
    now=NOW,
    undone=UNDONE,
    state=RunState.PUBLISHED,
    histories={
        FIRST: (entry(BEFORE_IT, FIRST, 2), entry(RUN, FIRST, 5)),
        SECOND: (entry(BEFORE_IT, SECOND, 2), entry(RUN, SECOND, 5)),
        THIRD: (entry(RUN, THIRD, 6),),
    },
    returned={},
    own_rollbacks=frozenset(),
    target=TargetFacts(
        version=9,
        fingerprints={day: f"left {day}" for day in DAYS},
        rows={},
        bytes={},
        rollback_hours=168,
    ),
    left={day: f"left {day}" for day in DAYS},
    before={FIRST: former(4), SECOND: former(4), THIRD: former(5, rows=0)},
    in_flight=(),
)


def roll_back(request: RollbackRequest = REQUEST, *, terms=TERMS, catalog=CATALOG, **facts):
    return build_rollback(request, catalog, replace(FACTS, **facts), terms, ROLLBACK)


def reasons(request: RollbackRequest = REQUEST, **facts) -> tuple[str, ...]:
    with pytest.raises(PlanRefused) as refused:
        roll_back(request, **facts)
    return refused.value.reasons


def finding(manifest: Manifest, check: Check) -> Finding:
    return next(found for found in manifest.findings if found.check is check)


def followed_by(later: RunId, day: date = SECOND) -> Mapping[date, tuple[AcceptedPartition, ...]]:
    """The histories, where a later run has replaced one of the days."""
    return {**FACTS.histories, day: (*FACTS.histories[day], entry(later, day, 8))}


def test_a_rollback_names_the_run_that_it_undoes():
    manifest = roll_back()
    assert manifest.undoes == ReplacedManifest(run_id=RUN, manifest_digest=UNDONE.digest)
    assert (manifest.kind, manifest.mode) == (RunKind.ROLLBACK, ExecutionMode.BACKFILL)
    assert manifest.transform == UNDONE.transform


def test_its_inputs_are_the_table_itself_just_before_the_run_landed():
    pinned = [(one.name, one.snapshot, dict(one.rows)) for one in roll_back().inputs]
    assert pinned == [
        ("silver.cases", "4", {FIRST: 3, SECOND: 3}),
        ("silver.cases", "5", {THIRD: 0}),
    ]


def test_each_day_knows_the_version_to_which_it_returns():
    assert former_versions(roll_back()) == {FIRST: 4, SECOND: 4, THIRD: 5}


def test_its_base_is_what_the_run_left():
    target = roll_back().target
    assert target.base == {day: f"left {day}" for day in DAYS}
    assert target.partitions == PartitionSet.of_days(DAYS)
    assert target.base_version == 9


def test_only_the_days_that_are_asked_for_are_returned():
    manifest = roll_back(replace(REQUEST, days=PartitionSet.of_days([SECOND])))
    assert manifest.target.partitions == PartitionSet.of_days([SECOND])
    assert former_versions(manifest) == {SECOND: 4}
    assert (
        "2025-03-01, 2025-03-03 of the run stay"
        in finding(manifest, Check.ROLLBACK_POSSIBLE).message
    )


def test_it_costs_nothing_and_the_policy_is_asked_about_a_rollback():
    asked: list[ProposedChange] = []

    def ask(change: ProposedChange) -> Requirement:
        asked.append(change)
        return REQUIREMENT

    roll_back(terms=replace(TERMS, require_approvals=ask))

    assert asked == [
        ProposedChange(
            table="silver.cases",
            layer="silver",
            kind=RunKind.ROLLBACK,
            partitions=3,
            is_full=False,
            rows_read=0,
            cost_usd=Decimal(0),
            replaces_accepted=True,
        )
    ]


def test_what_reads_the_table_follows_a_rollback_too():
    below = make_table("gold", "counts", inputs=(Input(name="silver.cases", warm_up_days=1),))
    impacts = roll_back(catalog=make_world(below)).impacts
    assert [(one.table, one.days) for one in impacts] == [
        ("gold.counts", some_days("2025-03-01", "2025-03-04"))
    ]


def test_the_same_request_and_facts_give_the_same_digest():
    assert roll_back().digest == roll_back().digest


def test_a_rollback_survives_its_journey_through_json():
    assert manifest_from_json(manifest_json(roll_back())) == roll_back()


def test_a_plan_is_not_valid_longer_than_the_files_are_sure_to_stay():
    until = LANDED + timedelta(hours=120)
    manifest = roll_back(target=replace(FACTS.target, rollback_hours=120))
    assert manifest.valid_until == until
    assert (
        f"stays until {until:%Y-%m-%d %H:%M} UTC"
        in finding(manifest, Check.ROLLBACK_POSSIBLE).message
    )


def test_a_plan_is_valid_as_long_as_the_policy_says_where_files_stay_longer():
    assert roll_back().valid_until == NOW + timedelta(hours=TERMS.plan_valid_hours)


def test_files_that_outlived_their_time_may_still_return_with_a_warning():
    manifest = roll_back(target=replace(FACTS.target, rollback_hours=1))
    found = finding(manifest, Check.ROLLBACK_POSSIBLE)
    assert found.severity is Severity.WARN
    assert "goes with the next vacuum" in found.message


def test_a_missing_ticket_is_a_warning():
    manifest = roll_back(replace(REQUEST, ticket=" "))
    assert finding(manifest, Check.REASON_GIVEN).severity is Severity.WARN


def test_all_reasons_come_at_once():
    found = reasons(
        replace(REQUEST, reason=" "),
        histories=followed_by(LATER),
        left={**FACTS.left, FIRST: "something else"},
        before={**FACTS.before, THIRD: former(5, missing=("runs/x/part",))},
        in_flight=(another_run(some_days("2025-03-03")),),
    )
    assert len(found) == 5
    assert "it names no reason" in found[0]
    assert f"2025-03-02 is no longer owed to {RUN} but to {LATER}" in found[1]
    assert "2025-03-01 no longer holds what" in found[2]
    assert "1 of the files that 2025-03-03 held before are gone (runs/x/part)" in found[3]
    assert f"run {OTHER_RUN} of mary is STAGING and may publish 2025-03-03" in found[4]


def test_superseded_days_are_refused_and_the_others_offered():
    (found,) = reasons(histories=followed_by(LATER))
    assert f"`backfill rollback {LATER}`" in found
    assert '`--days "2025-03-01, 2025-03-03"`' in found


def test_a_day_that_the_run_never_changed_is_refused():
    asked = PartitionSet.of_days([FIRST, date(2025, 3, 9)])
    (found,) = reasons(replace(REQUEST, days=asked))
    assert f"{RUN} did not change 2025-03-09" in found
    assert "it changed 2025-03-01..2025-03-03" in found


def test_a_run_that_published_nothing_is_refused_with_its_state():
    (found,) = reasons(histories={}, state=RunState.FAILED)
    assert "is FAILED and has published nothing" in found


def test_a_version_that_is_gone_is_refused_with_the_time_until_it_was_sure():
    before = {**FACTS.before, FIRST: former(4, rows=None)}
    (found,) = reasons(before=before)
    until = LANDED + timedelta(hours=168)
    assert "what 2025-03-01 held before can no longer be read (version 4" in found
    assert f"that was sure until {until:%Y-%m-%d %H:%M} UTC" in found


def test_a_run_in_flight_on_other_days_is_in_nobodys_way():
    manifest = roll_back(in_flight=(another_run(some_days("2025-03-09")),))
    assert manifest.target.partitions == PartitionSet.of_days(DAYS)


def test_days_that_were_undone_before_are_left_out_when_none_is_named():
    manifest = roll_back(
        histories=followed_by(ROLLED_BACK_BY),
        returned={ROLLED_BACK_BY: {SECOND: 4}},
        own_rollbacks=frozenset({ROLLED_BACK_BY}),
    )
    assert manifest.target.partitions == PartitionSet.of_days([FIRST, THIRD])


def test_a_run_that_was_undone_as_a_whole_says_by_whom():
    histories = {SECOND: followed_by(ROLLED_BACK_BY)[SECOND]}
    (found,) = reasons(
        histories=histories,
        returned={ROLLED_BACK_BY: {SECOND: 4}},
        own_rollbacks=frozenset({ROLLED_BACK_BY}),
    )
    assert f"has been rolled back already, by {ROLLED_BACK_BY}" in found


HISTORY = (
    entry(BEFORE_IT, FIRST, 2),
    entry(RUN, FIRST, 5),
    entry(LATER, FIRST, 7),
    entry(ROLLED_BACK_BY, FIRST, 8),
)


def test_behind_a_rollback_the_day_is_owed_to_the_run_whose_rows_it_shows():
    assert owed_entry(HISTORY, RUN, {ROLLED_BACK_BY: {FIRST: 6}}) == HISTORY[1]


def test_a_rollback_itself_can_be_undone():
    assert owed_entry(HISTORY, ROLLED_BACK_BY, {ROLLED_BACK_BY: {FIRST: 6}}) == HISTORY[3]


def test_a_run_that_was_rolled_back_is_owed_nothing():
    assert owed_entry(HISTORY, LATER, {ROLLED_BACK_BY: {FIRST: 6}}) is None


def test_rollbacks_of_rollbacks_are_looked_through():
    twice = (*HISTORY, entry(ROLLBACK, FIRST, 9))
    returned = {ROLLED_BACK_BY: {FIRST: 6}, ROLLBACK: {FIRST: 7}}
    assert shown_entry(twice, returned) == HISTORY[2]


def test_before_the_first_run_a_day_shows_nobodys_rows():
    assert shown_entry(HISTORY, {}, version=1) is None


LISTED_THEN = PinnedDeletions(name="landing.forgotten", digest="then", subjects=2)
LISTED_NOW = PinnedDeletions(name="landing.forgotten", digest="now", subjects=3)


def staged_by(owner: RunId | None) -> dict[date, FormerDay]:
    return {**FACTS.before, FIRST: former(4, owners=frozenset({owner}))}


def staged_with(listed: PinnedDeletions | None) -> dict[RunId, Manifest]:
    return {BEFORE_IT: replace(UNDONE, run_id=BEFORE_IT, deletions=listed)}


@pytest.mark.parametrize("listed", [LISTED_THEN, None], ids=["an older list", "no list"])
def test_a_rollback_to_rows_of_an_older_list_is_refused(listed):
    (said,) = reasons(before=staged_by(BEFORE_IT), owners=staged_with(listed), deletions=LISTED_NOW)
    assert said == (
        "what 2025-03-01 held before was not staged without the 3 subjects whom landing.forgotten "
        "names now, so somebody who is to be forgotten could come back; restate these days with a "
        "new run"
    )


def test_a_rollback_to_rows_that_no_run_staged_is_refused_where_a_list_is_declared():
    (said,) = reasons(before=staged_by(None), deletions=LISTED_NOW)
    assert "what 2025-03-01 held before was not staged without" in said


def test_a_rollback_to_rows_of_the_same_list_pins_it():
    manifest = roll_back(
        before=staged_by(BEFORE_IT), owners=staged_with(LISTED_NOW), deletions=LISTED_NOW
    )
    assert manifest.deletions == LISTED_NOW


def test_a_day_that_becomes_empty_again_brings_nobody_back():
    days = replace(REQUEST, days=PartitionSet.of_days([THIRD]))
    assert roll_back(days, deletions=LISTED_NOW).deletions == LISTED_NOW


def test_a_rollback_to_rows_from_before_they_were_masked_is_refused():
    (said,) = reasons(
        before=staged_by(BEFORE_IT),
        owners=staged_with(None),
        masks=("phone",),
        config_hash="masked since",
    )
    assert "it may show phone as they were before they were masked" in said


def test_a_rollback_to_rows_that_were_masked_alike_is_no_hindrance():
    same = UNDONE.transform.config_hash
    before, owners = staged_by(BEFORE_IT), staged_with(None)
    assert roll_back(before=before, owners=owners, masks=("phone",), config_hash=same)
