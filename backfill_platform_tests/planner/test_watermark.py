"""Which days' windows are still open, and what the table's watermark policy makes of it."""

from dataclasses import replace
from datetime import UTC, date, datetime

from backfill_platform.domain.findings import Check, Severity
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import Boundary, PartitionSet
from backfill_platform.domain.quality import Quality, WatermarkPolicy
from backfill_platform.domain.tables import Input
from backfill_platform_tests.declarations import make_table
from backfill_platform_tests.planner.worlds import (
    EVENTS,
    FACTS,
    INTENT,
    days,
    finding,
    held_input,
    make_world,
    plan,
    reasons,
    with_input,
)

# Ten late days are taken: with events up to 5 April, windows from 27 March on are open.
LANDED = with_input(days("2024-12-01", "2025-04-05"))
ONLY_COMPLETE = Quality(watermark=WatermarkPolicy.BY_COMPLETE_WINDOW)
COMPLETE = make_world(quality=ONLY_COMPLETE)
MONTHLY = make_world(quality=ONLY_COMPLETE, boundary=Boundary.MONTH)
LIVE = replace(
    INTENT, kind=RunKind.LIVE, mode=ExecutionMode.LIVE, knowledge=Knowledge.AS_KNOWN_THEN
)


def without(*missing: str, until: str = "2025-12-01") -> PartitionSet:
    lacking = {date.fromisoformat(day) for day in missing}
    return PartitionSet.of_days(day for day in days("2024-12-01", until) if day not in lacking)


def on(day: str, held: PartitionSet):
    return with_input(held, now=datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=UTC))


def open_windows(intent=INTENT, **given):
    return finding(Check.WINDOWS_COMPLETE, intent, **given)


def test_closed_windows_are_said_to_be_closed():
    found = open_windows()
    assert (found.severity, found.message) == (
        Severity.PASS,
        "the window of every day has ended, and is there",
    )


def test_days_whose_late_days_have_not_landed_are_named_in_the_plan():
    found = open_windows(facts=LANDED)
    assert found.severity is Severity.WARN
    assert "the windows of 5 days are still open (2025-03-27..2025-03-31)" in found.message
    assert "landing.events holds nothing yet of 2025-04-10" in found.message


def test_days_whose_late_days_have_not_ended_are_open_even_where_they_have_begun_to_land():
    found = open_windows(facts=on("2025-04-07", days("2024-12-01", "2025-04-10")))
    assert "4 days are still open (2025-03-28..2025-03-31)" in found.message
    assert "takes arrivals for them until 2025-04-10 has ended" in found.message


def test_a_last_day_without_arrivals_is_closed_by_a_later_one():
    """A source that delivers nothing at the weekend is not waited for for ever."""
    held = held_input(without("2025-04-09", "2025-04-10", until="2025-04-08"))
    passed_over = {"landing.events": replace(held, holds_later=True)}
    assert open_windows(facts=replace(FACTS, inputs=passed_over)).severity is Severity.PASS


def test_a_run_that_knows_what_was_known_then_waits_for_nothing_that_came_later():
    known_then = replace(INTENT, knowledge=Knowledge.AS_KNOWN_THEN)
    assert open_windows(known_then, facts=LANDED).severity is Severity.PASS


def test_a_live_run_of_today_names_today_as_open():
    found = open_windows(
        replace(LIVE, days=days("2026-07-04")), facts=with_input(days("2026-06-01", "2026-07-04"))
    )
    assert "1 day are still open (2026-07-04)" in found.message


def test_every_input_is_waited_for_in_an_order_of_its_own():
    calls = Input(name="silver.calls", late_days=1)
    world = make_world(make_table(name="calls"), inputs=(calls, EVENTS))
    facts = replace(
        FACTS,
        inputs={
            "landing.events": held_input(days("2024-12-01", "2025-04-05")),
            "silver.calls": held_input(days("2024-12-01", "2025-03-31")),
        },
    )
    message = open_windows(catalog=world, facts=facts).message
    assert "landing.events holds nothing yet of 2025-04-10" in message
    assert "silver.calls holds nothing yet of 2025-04-01" in message


def test_the_manifest_says_by_which_policy_days_are_closed():
    found = [plan(catalog=world).validation.watermark for world in (make_world(), COMPLETE)]
    assert found == [WatermarkPolicy.BY_TIME_PARTITION, WatermarkPolicy.BY_COMPLETE_WINDOW]


def test_by_complete_window_alone_open_days_refuse_the_plan_and_name_what_can_be_planned():
    found = reasons(catalog=COMPLETE, facts=LANDED)
    assert "those of 5 days are not complete (2025-03-27..2025-03-31)" in found
    assert "holds nothing yet of 2025-04-10" in found
    assert "plan 2025-03-01..2025-03-26 now" in found


def test_what_a_refusal_offers_is_planned():
    offered = replace(INTENT, days=days("2025-03-01", "2025-03-26"))
    assert open_windows(offered, catalog=COMPLETE, facts=LANDED).severity is Severity.PASS


def test_where_every_day_is_open_nothing_is_offered():
    last = replace(INTENT, days=days("2025-03-29", "2025-03-31"))
    assert "none of the days can be planned now" in reasons(last, catalog=COMPLETE, facts=LANDED)


def test_a_month_that_may_not_be_cut_waits_as_a_whole():
    two = replace(INTENT, days=days("2025-02-01", "2025-03-31"))
    found = reasons(two, catalog=MONTHLY, facts=LANDED)
    assert "plan 2025-02-01..2025-02-28 now" in found


def test_by_complete_window_a_hole_within_a_window_refuses_its_days():
    found = reasons(catalog=COMPLETE, facts=with_input(without("2025-04-08")))
    assert "landing.events holds nothing for 2025-04-08" in found
    assert "plan 2025-03-01..2025-03-28 now" in found


def test_by_time_partition_a_hole_leaves_no_window_open():
    found = open_windows(facts=with_input(without("2025-04-08")))
    assert found.severity is Severity.PASS


def test_a_hole_that_no_day_of_the_run_uses_refuses_nothing():
    apart = PartitionSet.of_days([date(2025, 1, 31), date(2025, 3, 31)])
    found = open_windows(
        replace(INTENT, days=apart), catalog=COMPLETE, facts=with_input(without("2025-02-20"))
    )
    assert found.severity is Severity.PASS


def test_days_before_the_start_of_an_input_are_no_hole():
    first = replace(INTENT, days=days("2024-12-05"))
    assert open_windows(first, catalog=COMPLETE).severity is Severity.PASS


def test_a_day_without_rows_of_a_table_that_may_be_empty_is_no_hole():
    calls = make_table(name="calls", may_be_empty=True)
    world = make_world(
        calls, inputs=(Input(name="silver.calls", late_days=3),), quality=ONLY_COMPLETE
    )
    facts = replace(FACTS, inputs={"silver.calls": held_input(without("2025-04-02"))})
    assert open_windows(catalog=world, facts=facts).severity is Severity.PASS
