"""Which tables and days follow a change."""

from datetime import date

from backfill_platform.domain.impacts import Impact
from backfill_platform.domain.partitions import Boundary
from backfill_platform.domain.tables import Input
from backfill_platform.planner.impact import direct_impact, downstream_impact
from backfill_platform_tests.declarations import make_catalog, make_table
from backfill_platform_tests.planner.worlds import days

TODAY = date(2025, 6, 30)
EVENTS = make_table("bronze", "events")


def impact(*tables, changed=("2025-03-10", "2025-03-11"), today=TODAY) -> tuple[Impact, ...]:
    return downstream_impact(make_catalog(EVENTS, *tables), "bronze.events", days(*changed), today)


def reader(name: str, *inputs: Input, **changes):
    return make_table("silver", name, inputs=inputs, **changes)


def reads(name: str, *, warm_up: int = 0, late: int = 0) -> Input:
    return Input(name=name, warm_up_days=warm_up, late_days=late)


def test_a_changed_day_reaches_back_by_lateness_and_on_by_warm_up():
    (found,) = impact(reader("cases", reads("bronze.events", warm_up=3, late=2), owner="law"))
    assert found == Impact(
        table="silver.cases",
        days=days("2025-03-08", "2025-03-14"),
        owner="law",
        through="bronze.events",
    )


def test_a_change_goes_on_through_tables_between():
    cases = reader("cases", reads("bronze.events", warm_up=1))
    totals = reader("totals", reads("silver.cases", warm_up=1))
    found = impact(totals, cases)
    assert [(one.table, one.days, one.through) for one in found] == [
        ("silver.cases", days("2025-03-10", "2025-03-12"), "bronze.events"),
        ("silver.totals", days("2025-03-10", "2025-03-13"), "silver.cases"),
    ]


def test_several_paths_are_one_impact_with_all_their_days():
    cases = reader("cases", reads("bronze.events", late=1))
    both = reader("both", reads("silver.cases"), reads("bronze.events", warm_up=1))
    found = impact(cases, both)[-1]
    assert (found.days, found.through) == (
        days("2025-03-09", "2025-03-12"),
        "bronze.events, silver.cases",
    )


def test_a_table_by_the_month_follows_as_a_whole():
    monthly = reader("monthly", reads("bronze.events"), boundary=Boundary.MONTH)
    assert impact(monthly)[0].days == days("2025-03-01", "2025-03-31")


def test_days_before_a_tables_start_and_after_today_do_not_follow():
    young = reader("young", reads("bronze.events", warm_up=30), start=date(2025, 3, 11))
    assert impact(young, today=date(2025, 3, 20))[0].days == days("2025-03-11", "2025-03-20")


def test_a_table_that_starts_after_the_change_is_not_reached():
    assert impact(reader("young", reads("bronze.events"), start=date(2025, 4, 1))) == ()


def test_what_reads_something_else_is_not_reached():
    assert impact(reader("other", reads("landing.events"))) == ()


def test_one_hop_reaches_those_that_read_the_table_themselves():
    cases = reader("cases", reads("bronze.events", warm_up=1))
    totals = reader("totals", reads("silver.cases"))
    catalog = make_catalog(EVENTS, cases, totals)
    found = direct_impact(catalog, "bronze.events", days("2025-03-10", "2025-03-11"), TODAY)
    assert found == {"silver.cases": days("2025-03-10", "2025-03-12")}
