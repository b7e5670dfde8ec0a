"""From intent, facts and terms to a manifest, or a refusal with every reason."""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from backfill_platform.domain.approvals import ProposedChange, Requirement
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.limits import DailyWindow, Limits
from backfill_platform.domain.manifests import ReplacedManifest, manifest_from_json, manifest_json
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import Boundary, DayRange, PartitionSet
from backfill_platform.domain.tables import Input
from backfill_platform.planner.plan import check_intent
from backfill_platform_tests.planner.worlds import (
    CATALOG,
    EVENTS,
    FACTS,
    INTENT,
    MARCH,
    OTHER_RUN,
    REQUIREMENT,
    TERMS,
    another_run,
    days,
    make_world,
    plan,
    reasons,
    with_input,
)

MONTHLY = make_world(boundary=Boundary.MONTH, inputs=(EVENTS,))
LIVE = replace(
    INTENT,
    kind=RunKind.LIVE,
    mode=ExecutionMode.LIVE,
    knowledge=Knowledge.AS_KNOWN_THEN,
)


def test_input_range_is_wider_than_publish_range_at_both_ends():
    manifest = plan()
    assert manifest.target.partitions.span == MARCH
    assert manifest.inputs[0].days == DayRange(date(2025, 2, 1), date(2025, 4, 11))


def test_what_was_known_then_leaves_late_arrivals_out():
    manifest = plan(replace(INTENT, knowledge=Knowledge.AS_KNOWN_THEN))
    assert manifest.inputs[0].days == DayRange(date(2025, 2, 1), date(2025, 4, 1))


def test_warm_up_is_clipped_to_what_the_input_holds():
    held = days("2025-02-20", "2025-03-31")
    assert plan(facts=with_input(held)).inputs[0].days == held.span


def test_an_input_is_pinned_with_its_files_and_rows_within_the_input_range():
    pinned = plan().inputs[0]
    assert list(pinned.files) == list(pinned.rows) == list(pinned.days)


def test_the_newest_transform_is_the_highest_number_and_not_the_last_word():
    assert plan().transform.version == "1.10.0"


def test_the_base_names_only_partitions_of_the_run():
    assert plan().target.base == {date(2025, 3, 2): "f2"}


def test_a_plan_holds_for_as_long_as_the_policy_says():
    assert plan().valid_until == datetime(2026, 7, 6, 12, tzinfo=UTC)


def test_the_contracts_of_both_ends_are_pinned():
    digest = CATALOG.contracts["silver.cases"].digest
    assert (plan().target.schema_digest, plan().inputs[0].schema_digest) == (digest, digest)


def test_the_policy_is_asked_about_exactly_this_change():
    asked: list[ProposedChange] = []

    def ask(change: ProposedChange) -> Requirement:
        asked.append(change)
        return REQUIREMENT

    plan(terms=replace(TERMS, require_approvals=ask))

    assert asked == [
        ProposedChange(
            table="silver.cases",
            layer="silver",
            kind=RunKind.RESTATEMENT,
            partitions=31,
            is_full=False,
            rows_read=6_900,
            cost_usd=Decimal("0.0069"),
            replaces_accepted=True,
        )
    ]


def test_filling_empty_partitions_replaces_nothing_that_was_accepted():
    asked: list[ProposedChange] = []

    def ask(change: ProposedChange) -> Requirement:
        asked.append(change)
        return REQUIREMENT

    plan(replace(INTENT, days=days("2025-03-03")), terms=replace(TERMS, require_approvals=ask))

    assert [change.replaces_accepted for change in asked] == [False]


def test_the_strictest_of_policy_table_and_intent_limits_is_pinned():
    manifest = plan(
        replace(INTENT, limits=Limits(max_rows=40_000)),
        terms=replace(TERMS, limits=Limits(max_rows=99_000, pause_seconds=5)),
        catalog=make_world(limits=Limits(max_partitions_at_once=4)),
    )
    assert manifest.safety.limits == Limits(
        max_rows=40_000, pause_seconds=5, max_partitions_at_once=4
    )


def test_only_a_live_run_may_have_side_effects():
    allowed = plan(LIVE).safety.side_effects_allowed
    assert (allowed, plan().safety.side_effects_allowed) == (True, False)


def test_a_new_scope_is_a_new_version_that_names_what_it_replaces():
    replaced = ReplacedManifest(run_id=OTHER_RUN, manifest_digest="old")
    manifest = plan(
        replace(INTENT, replaces=OTHER_RUN),
        facts=replace(
            FACTS,
            replaced=replaced,
            replaced_scope_version=2,
            in_flight=(another_run(INTENT.days),),
        ),
    )
    assert (manifest.scope_version, manifest.replaces) == (3, replaced)


def test_a_replaced_run_of_which_nothing_is_known_is_refused():
    assert f"{OTHER_RUN} is to be replaced" in reasons(replace(INTENT, replaces=OTHER_RUN))


def test_the_same_intent_and_facts_give_the_same_digest():
    assert plan().digest == plan().digest


def test_a_manifest_survives_its_journey_through_json():
    assert manifest_from_json(manifest_json(plan())) == plan()


@pytest.mark.parametrize(
    "change",
    [
        {"reason": "another reason"},
        {"ticket": "T-1"},
        {"kind": RunKind.REPAIR},
        {"knowledge": Knowledge.AS_KNOWN_THEN},
        {"transform_version": "1.2.0"},
        {"days": days("2025-03-01", "2025-03-30")},
        {"requested_by": "somebody-else"},
        {"is_full": True},
        {"requires_manual_publish": True},
        {"limits": Limits(max_rows=10**9)},
        {"group_id": "restatement-2025"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_intent_gives_another_digest(change):
    assert plan(replace(INTENT, **change)).digest != plan().digest


def test_all_reasons_come_at_once_and_each_once():
    found = reasons(
        replace(
            INTENT,
            reason=" ",
            kind=RunKind.LIVE,
            transform_version="9.9.9",
            days=days("2024-11-30", "2026-07-05"),
            limits=Limits(max_rows=1),
        ),
        facts=replace(FACTS, in_flight=(another_run(days("2025-03-01")),), free_bytes=0),
    ).splitlines()
    assert [sentence.split(" ")[0:3] for sentence in found] == [
        ["it", "names", "no"],
        ["kind", "LIVE", "and"],
        ["silver.cases", "starts", "on"],
        ["silver.cases", "has", "no"],
        ["2026-07-05", "lies", "in"],
        ["input", "landing.events", "holds"],
        ["run", OTHER_RUN, "of"],
        ["0", "B", "are"],
        ["80,500", "rows", "to"],
    ]


def test_what_needs_no_facts_is_refused_before_they_are_gathered():
    with pytest.raises(PlanRefused, match="names no reason"):
        check_intent(replace(INTENT, reason=""), CATALOG)


def test_a_sound_intent_passes_before_facts_are_gathered():
    assert check_intent(INTENT, CATALOG) is CATALOG.tables["silver.cases"]


def test_an_unknown_table_is_refused_with_the_known_ones():
    assert "declared are silver.cases" in reasons(replace(INTENT, table="silver.nothing"))


def test_an_unknown_version_is_refused_with_the_known_ones():
    unknown = replace(INTENT, transform_version="2.0.0")
    assert "has no transform '2.0.0'; it has 1.0.0, 1.2.0, 1.10.0" in reasons(unknown)


def test_a_range_before_the_tables_start_is_refused():
    assert "starts on 2024-12-01" in reasons(replace(INTENT, days=days("2024-11-01", "2024-12-05")))


def test_a_future_range_is_refused():
    future = replace(INTENT, days=days("2026-07-05"))
    assert "2026-07-05 lies in the future (today is 2026-07-04)" in reasons(future)


def test_today_may_be_planned():
    today = replace(INTENT, days=days("2026-07-04"))
    assert plan(today, facts=with_input(days("2026-06-01", "2026-07-04")))


def test_a_month_that_has_not_ended_is_refused():
    july = replace(INTENT, days=days("2026-07-01", "2026-07-31"))
    assert "wait until the MONTH has ended" in reasons(july, catalog=MONTHLY)


def test_a_range_that_cuts_a_month_is_refused_with_the_one_that_would_be_right():
    cut = replace(INTENT, days=days("2025-02-10", "2025-03-31"))
    assert "ask for 2025-02-01..2025-03-31" in reasons(cut, catalog=MONTHLY)


def test_whole_months_pass_and_are_cut_between_months_only():
    manifest = plan(replace(INTENT, days=days("2025-02-01", "2025-04-30")), catalog=MONTHLY)
    assert manifest.chunk_days == 31


def test_a_rollback_by_name_alone_is_refused():
    """It would meet the rule for rollbacks and compute whatever it liked."""
    assert "plan it with `backfill rollback RUN`" in reasons(replace(INTENT, kind=RunKind.ROLLBACK))


def test_a_live_kind_in_another_mode_is_refused():
    assert "do not go together" in reasons(replace(INTENT, kind=RunKind.LIVE))


def test_limits_of_an_intent_that_nobody_could_keep_are_refused():
    assert "max_rows_per_minute is 0" in reasons(
        replace(INTENT, limits=Limits(max_rows_per_minute=0))
    )


def test_windows_of_policy_and_intent_that_never_meet_are_refused():
    night, noon = DailyWindow(start="22:00", end="06:00"), DailyWindow(start="11:00", end="13:00")
    terms = replace(TERMS, limits=Limits(off_peak=night))
    assert "no hour is off peak for both" in reasons(
        replace(INTENT, limits=Limits(off_peak=noon)), terms=terms
    )


def test_chunks_become_as_small_as_the_limits_ask():
    limits = Limits(max_partitions_at_once=9, max_rows_per_minute=550)
    assert plan(replace(INTENT, limits=limits)).chunk_days == 5


def test_the_bytes_of_a_minute_bound_a_chunk_too():
    limits = Limits(max_bytes_per_minute=3_999)
    assert plan(replace(INTENT, limits=limits)).chunk_days == 3


def test_a_chunk_is_never_smaller_than_a_month_that_may_not_be_cut():
    limits = Limits(max_partitions_at_once=9)
    assert plan(replace(INTENT, limits=limits), catalog=MONTHLY).chunk_days == 31


def test_what_lies_in_a_wide_gap_is_not_counted_as_read():
    scattered = PartitionSet.of_days([date(2025, 3, 1), date(2025, 11, 1)])
    catalog = make_world(inputs=(Input(name="landing.events", warm_up_days=1),))
    assert plan(replace(INTENT, days=scattered), catalog=catalog).estimate.rows_read == 400
