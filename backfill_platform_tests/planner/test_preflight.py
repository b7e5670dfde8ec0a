"""The checklist: what passes, what warns and what refuses, one finding for each check."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from backfill_platform.domain.findings import Check, Severity
from backfill_platform.domain.limits import Limits
from backfill_platform.domain.manifests import ReplacedManifest
from backfill_platform.domain.modes import Classification, ExecutionMode, RunKind
from backfill_platform.domain.partitions import Boundary, PartitionSet
from backfill_platform.domain.tables import Input
from backfill_platform_tests.declarations import SOURCE, make_table
from backfill_platform_tests.planner.worlds import (
    FACTS,
    INTENT,
    NOW,
    OTHER_RUN,
    TERMS,
    another_run,
    days,
    finding,
    make_world,
    plan,
    reasons,
    with_input,
    with_target,
)

DRY_RUN = replace(INTENT, mode=ExecutionMode.DRY_RUN)


def retained(retention_days: int):
    return make_world(source=replace(SOURCE, retention_days=retention_days))


def age(day: date) -> int:
    return (NOW.date() - day).days


def test_every_check_has_one_finding_in_the_order_of_the_list():
    assert [found.check for found in plan().findings] == list(Check)


def test_a_calm_plan_passes_everything():
    assert {found.severity for found in plan().findings} == {Severity.PASS}


def test_a_missing_ticket_is_a_warning():
    found = finding(Check.REASON_GIVEN, replace(INTENT, ticket=" "))
    assert found.severity is Severity.WARN


def test_a_live_run_needs_no_ticket():
    live = replace(INTENT, ticket="", kind=RunKind.LIVE, mode=ExecutionMode.LIVE)
    assert finding(Check.REASON_GIVEN, live).severity is Severity.PASS


def test_days_that_the_input_lacks_are_refused_with_their_number():
    facts = with_input(days("2025-03-03", "2025-03-31"))
    assert "holds nothing for 2 of the 31 days (2025-03-01..2025-03-02); load it first" in reasons(
        facts=facts
    )


def test_an_input_that_starts_later_is_named_with_its_start():
    source = replace(SOURCE, start=date(2025, 3, 20))
    assert "(2025-03-01..2025-03-19); it starts on 2025-03-20" in reasons(
        facts=with_input(days("2025-03-20", "2025-03-31")), catalog=make_world(source=source)
    )


def test_warm_up_before_the_start_of_the_source_is_a_warning():
    found = finding(Check.SOURCE_AVAILABLE, replace(INTENT, days=days("2024-12-05", "2024-12-06")))
    assert found.severity is Severity.WARN
    assert found.message.startswith("24 days of warm-up before 2024-12-01")


def test_what_is_held_before_the_declared_start_is_nothing_to_warn_of():
    catalog = make_world(source=replace(SOURCE, start=date(2025, 2, 20)))
    assert finding(Check.SOURCE_AVAILABLE, catalog=catalog).severity is Severity.PASS


def test_a_gap_in_the_warm_up_is_a_warning_that_names_its_days():
    held = PartitionSet.of_days(
        [*days("2025-02-01", "2025-02-09"), *days("2025-02-12", "2025-04-10")]
    )
    found = finding(Check.SOURCE_AVAILABLE, facts=with_input(held))
    assert found.severity is Severity.WARN
    assert "nothing for 2 days around those to publish (2025-02-10..2025-02-11)" in found.message


def test_late_days_that_have_not_arrived_yet_are_no_gap():
    found = finding(Check.SOURCE_AVAILABLE, facts=with_input(days("2025-02-01", "2025-03-31")))
    assert found.severity is Severity.PASS


def test_days_that_retention_has_closed_are_refused_even_where_they_still_lie():
    catalog = retained(age(date(2025, 3, 10)))
    assert "2025-02-01..2025-03-09 is older: plan later days" in reasons(catalog=catalog)


def test_warm_up_that_reaches_behind_the_retention_of_the_source_is_refused():
    catalog = retained(age(date(2025, 2, 15)))
    assert (
        "landing.events may be used for 504 days only, since 2025-02-15; "
        "2025-02-01..2025-02-14 of the warm-up is older" in reasons(catalog=catalog)
    )


def test_what_lies_before_the_declared_start_is_closed_by_retention_too():
    source = replace(SOURCE, start=date(2025, 2, 20), retention_days=age(date(2025, 2, 20)))
    assert "2025-02-01..2025-02-19 of the warm-up is older" in reasons(
        catalog=make_world(source=source)
    )


def test_warm_up_that_never_was_is_not_past_its_retention():
    source = replace(SOURCE, start=date(2025, 2, 20), retention_days=age(date(2025, 2, 20)))
    found = finding(
        Check.RETENTION_ALLOWS,
        facts=with_input(days("2025-02-20", "2025-04-10")),
        catalog=make_world(source=source),
    )
    assert found.severity is Severity.PASS


def test_the_last_day_of_a_retention_may_still_be_used():
    found = finding(Check.RETENTION_ALLOWS, catalog=retained(age(date(2025, 2, 1))))
    assert found.severity is Severity.PASS


def test_what_the_target_may_no_longer_hold_is_refused():
    catalog = make_world(retention_days=age(date(2025, 3, 31)))
    assert "silver.cases may be written for 460 days only" in reasons(catalog=catalog)


def test_data_never_flows_into_a_lower_class():
    source = replace(SOURCE, classification=Classification.RESTRICTED)
    assert "landing.events is RESTRICTED and silver.cases only INTERNAL" in reasons(
        catalog=make_world(source=source)
    )


def test_data_may_flow_into_a_higher_class():
    catalog = make_world(classification=Classification.RESTRICTED)
    assert finding(Check.PRIVACY_ALLOWS, catalog=catalog).severity is Severity.PASS


def test_a_run_that_may_still_publish_the_same_days_is_named_with_what_to_do():
    facts = replace(FACTS, in_flight=(another_run(days("2025-03-30", "2025-04-02")),))
    said = reasons(facts=facts)
    assert f"run {OTHER_RUN} of mary is STAGING and may publish 2025-03-30..2025-03-31" in said
    assert f"`backfill cancel {OTHER_RUN}`, or plan with `--replaces {OTHER_RUN}`" in said


def test_a_run_on_other_days_is_no_hindrance():
    facts = replace(FACTS, in_flight=(another_run(days("2025-04-01")),))
    assert finding(Check.NO_RUN_IN_FLIGHT, facts=facts).severity is Severity.PASS


def test_the_run_that_is_replaced_is_no_hindrance():
    facts = replace(
        FACTS,
        in_flight=(another_run(INTENT.days),),
        replaced=ReplacedManifest(run_id=OTHER_RUN, manifest_digest="old"),
    )
    assert finding(Check.NO_RUN_IN_FLIGHT, facts=facts).severity is Severity.PASS


@pytest.mark.parametrize("mode", [ExecutionMode.DRY_RUN, ExecutionMode.RECONCILIATION])
def test_what_never_publishes_is_only_warned_of_another_run(mode):
    facts = replace(FACTS, in_flight=(another_run(INTENT.days),))
    found = finding(Check.NO_RUN_IN_FLIGHT, replace(INTENT, mode=mode), facts=facts)
    assert found.severity is Severity.WARN


def test_no_declared_stream_is_said():
    assert "no stream is declared" in finding(Check.STREAM_STATE).message


@pytest.mark.parametrize(
    ("factor", "severity"), [(2, Severity.WARN), (4, Severity.PASS)], ids=["tight", "comfortable"]
)
def test_capacity_is_measured_against_the_highest_estimate(factor, severity):
    most = plan().estimate.bytes_out.high
    facts = replace(FACTS, free_bytes=most * factor)
    assert finding(Check.CAPACITY, facts=facts).severity is severity


def test_a_disk_without_room_for_twice_the_estimate_is_refused():
    most = plan().estimate.bytes_out.high
    assert "make room or plan fewer days" in reasons(facts=replace(FACTS, free_bytes=most * 2 - 1))


@pytest.mark.parametrize(
    ("facts", "severity", "said"),
    [
        (FACTS, Severity.PASS, "in 1 partition stays for 7 days"),
        (with_target(fingerprints={}), Severity.PASS, "nothing is replaced"),
        (with_target(rollback_hours=None), Severity.WARN, "nobody knows how long"),
        (with_target(rollback_hours=23), Severity.WARN, "for 23 hours only"),
    ],
    ids=["kept", "empty", "unknown", "short"],
)
def test_it_is_said_how_long_a_rollback_stays_possible(facts, severity, said):
    found = finding(Check.ROLLBACK_POSSIBLE, facts=facts)
    assert (found.severity, said in found.message) == (severity, True)


def test_owners_downstream_and_those_of_the_policy_are_to_be_told():
    gold = make_table("gold", "totals", inputs=(Input(name="silver.cases"),), owner="reporting")
    found = finding(Check.STAKEHOLDERS_KNOWN, catalog=make_world(gold))
    assert found.message == "to be told: data, reporting, reports@example.org"


def test_a_table_downstream_without_an_owner_is_a_warning():
    gold = make_table("gold", "totals", inputs=(Input(name="silver.cases"),), owner="")
    found = finding(Check.STAKEHOLDERS_KNOWN, catalog=make_world(gold))
    assert (found.severity, "gold.totals has no owner" in found.message) == (Severity.WARN, True)


@pytest.mark.parametrize(("is_committed", "said"), [(False, "commit it"), (None, "no repository")])
def test_code_that_no_commit_holds_is_a_warning(is_committed, said):
    facts = replace(FACTS, code=replace(FACTS.code, is_committed=is_committed))
    found = finding(Check.CODE_COMMITTED, facts=facts)
    assert (found.severity, said in found.message) == (Severity.WARN, True)


def test_rows_beyond_the_limit_are_refused_with_both_numbers():
    limited = replace(INTENT, limits=Limits(max_rows=6_899))
    assert "6,900 rows to read exceed the limit of 6,899" in reasons(limited)


def test_exactly_the_rows_of_the_limit_may_be_read():
    limited = replace(INTENT, limits=Limits(max_rows=6_900))
    assert finding(Check.WITHIN_LIMITS, limited).severity is Severity.PASS


def test_warm_up_that_every_chunk_reads_again_counts_against_the_limit():
    catalog = make_world(chunk_days=16)
    limited = replace(INTENT, limits=Limits(max_rows=6_900))
    assert "10,700 rows to read exceed" in reasons(limited, catalog=catalog)


def test_an_expected_cost_beyond_the_limit_is_refused():
    limited = replace(INTENT, limits=Limits(max_cost_usd=Decimal("0.0068")))
    assert "is expected to cost 0.0069 US dollars, more than the limit of 0.0068" in reasons(
        limited
    )


def test_a_cost_that_may_exceed_the_limit_is_a_warning():
    limited = replace(INTENT, limits=Limits(max_cost_usd=Decimal("0.0100")))
    found = finding(Check.WITHIN_LIMITS, limited)
    assert (found.severity, "may cost 0.0104" in found.message) == (Severity.WARN, True)


def test_a_month_that_exceeds_the_partitions_at_once_is_a_warning():
    limited = replace(INTENT, limits=Limits(max_partitions_at_once=10))
    found = finding(Check.WITHIN_LIMITS, limited, catalog=make_world(boundary=Boundary.MONTH))
    assert "31 partitions at once, more than the limit of 10" in found.message


def test_a_dry_run_is_held_to_the_limits_too():
    terms = replace(TERMS, limits=Limits(max_rows=1))
    assert "exceed the limit of 1" in reasons(DRY_RUN, terms=terms)
