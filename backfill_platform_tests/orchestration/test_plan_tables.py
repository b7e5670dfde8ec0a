"""What a page says of a plan and of where its run stands, from the ledger alone."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from backfill_platform.domain.estimates import Cost
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.limits import DailyWindow, Limits
from backfill_platform.domain.manifests import UnchangedDays
from backfill_platform.engine.consent.approving import decide, draft_approval
from backfill_platform.engine.look.status import read_status
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import load_policy
from backfill_platform.orchestration.materializations import staging_metadata
from backfill_platform.orchestration.plan_tables import plan_metadata
from backfill_platform.orchestration.standing import standing_metadata
from backfill_platform.settings import PROJECT
from backfill_platform_tests.engine.by_hand import stage_by_hand
from backfill_platform_tests.engine.lives import after, stage_whole
from backfill_platform_tests.planner.worlds import INTENT, plan
from backfill_platform_tests.readings import BRONZE, START, week

DAYS = week()
LEAD = "data-engineering-lead"


@pytest.fixture
def strict(platform):
    return replace(platform, policy=load_policy(PROJECT / "governance.yaml"))


@pytest.fixture
def planned(strict, intent):
    return plan_run(strict, intent(BRONZE, DAYS, "planned"))


@pytest.fixture
def standing(strict, planned):
    """Of the planned run, now or later."""

    def read(*, later: timedelta = timedelta()):
        now = strict.clock() + later
        return standing_metadata(read_status(strict.ledger, planned.run_id, now))

    return read


def rows(metadata, table: str) -> list[dict]:
    return [dict(record.data) for record in metadata[table].records]


def test_the_estimate_is_a_range():
    (read, _, seconds, cost) = rows(plan_metadata(plan()), "plan: estimate")
    assert read["low"] == read["high"]
    assert (seconds["what"], cost["what"]) == ("seconds", "cost")
    assert cost["expected"].startswith("$")


def test_days_that_are_left_are_told_with_the_run_that_computed_them():
    left = UnchangedDays(
        run_id=RunId("bf-1"), manifest_digest="m", compared=dict.fromkeys(DAYS, "compared")
    )
    (row,) = rows(plan_metadata(replace(plan(), unchanged=(left,))), "plan: left as accepted")
    assert (row["computed by"], row["partitions"]) == ("bf-1", 7)
    assert "plan: left as accepted" not in plan_metadata(plan())


def test_limits_are_told_as_far_as_there_are_any():
    limits = Limits(
        max_rows=1_000_000_000,
        max_cost_usd=Decimal("12.5"),
        off_peak=DailyWindow(start="22:00", end="06:00"),
    )
    assert rows(plan_metadata(plan(replace(INTENT, limits=limits))), "plan: limits") == [
        {"limit": "rows read in all", "value": "1,000,000,000"},
        {"limit": "cost in all", "value": "$12.50"},
        {"limit": "hours in which chunks begin", "value": "22:00 to 06:00 UTC"},
    ]
    assert "plan: limits" not in plan_metadata(plan())


def test_more_tables_below_than_a_page_takes_are_counted(planned):
    (impact,) = planned.impacts
    many = tuple(replace(impact, table=f"gold.t{number}") for number in range(25))
    told = rows(plan_metadata(replace(planned, impacts=many)), "plan: impact")
    assert len(told) == 21
    assert told[-1]["table"] == "and 5 more tables"
    assert told[-1]["partitions"] == 5 * len(impact.days)


def test_a_planned_run_says_who_is_missing_and_how_it_is_carried_out(standing, planned):
    told = standing()
    assert (told["run"], told["state"]) == (planned.run_id, "PLANNED")
    assert told["do now"] == f"backfill run {planned.run_id}"
    assert told["do now in Dagster"] == (
        f"materialize staging/bronze/readings over {DAYS} with the tag "
        f"backfill/run: {planned.run_id}"
    )
    assert [row["agreed"] for row in rows(told, "approvals")] == ["missing"]


def test_a_staged_run_names_the_jobs_that_lead_on(strict, planned, standing):
    stage_by_hand(strict, planned, dict.fromkeys(DAYS, ("a",)))
    told = standing()
    assert told["waits for"] == f"the approval of {LEAD} before it is published"
    assert told["do now in Dagster"] == ("launch the job compare_run; launch the job approve_run")


def test_what_is_held_names_the_review(strict, planned, standing):
    stage_by_hand(strict, planned, dict.fromkeys(DAYS, ("a",)), held=[START])
    assert "launch the job review_run" in standing()["do now in Dagster"]


def test_an_approval_counts_on_the_page_until_it_expires(strict, planned, standing):
    decide(strict, draft_approval(strict, planned.run_id, principal=LEAD))
    (now,) = rows(standing(), "approvals")
    (later,) = rows(standing(later=timedelta(hours=73)), "approvals")
    assert now["agreed"].startswith(f"{LEAD}, until ")
    assert later["agreed"] == "missing"


def test_where_nobody_is_asked_the_rule_says_so(platform, intent):
    run_id = plan_run(platform, intent(BRONZE, DAYS, "free")).run_id
    told = standing_metadata(read_status(platform.ledger, run_id, platform.clock()))
    assert told["approvals"] == "rule 'nobody' asks nobody"


def test_what_computing_took_is_told_in_numbers(platform, intent):
    manifest = plan_run(platform, intent(BRONZE, DAYS, "free"))
    stage_whole(platform.ledger, manifest)
    status = read_status(platform.ledger, manifest.run_id, after(60))
    cost = Cost(low=Decimal(1), expected=Decimal(2), high=Decimal(3))
    priced = replace(manifest, estimate=replace(manifest.estimate, cost_usd=cost))
    assert staging_metadata(priced, status.chunks) == {
        "rows read": 14,
        "seconds of computing": 10.0,
        "rows a second": 1.4,
        "cost in dollars": 2.0,
    }


def test_no_chunk_divides_by_nothing(planned):
    assert staging_metadata(planned, ())["rows a second"] == 0.0
