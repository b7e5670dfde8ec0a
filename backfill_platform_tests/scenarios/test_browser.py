"""What an engineer and an owner do in Dagster's pages, in a real browser, from launch to rollback.

One story in steps: each test goes on where the one before it has ended.
"""

from collections.abc import Iterator
from datetime import date

import pytest

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.partitions import DayRange
from backfill_platform_tests.readings import BRONZE, START, land
from backfill_platform_tests.scenarios.dagster_client import wait_for
from backfill_platform_tests.scenarios.pages import Pages, open_pages
from backfill_platform_tests.scenarios.running_up import Up, running_up

DAYS = DayRange(START, date(2025, 1, 31))
STAGING = "staging/bronze/readings"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    home = tmp_path_factory.mktemp("home")
    land(home / "landing", DAYS)
    catalog = "backfill_platform_tests.scenarios.browsed:DECLARATIONS"
    with running_up(home, catalog=catalog, policy="agreed.yaml") as started:
        yield started


@pytest.fixture(scope="module")
def pages(up: Up) -> Iterator[Pages]:
    with open_pages(up.url) as opened:
        yield opened


def newest(up: Up, kind: RunKind, state: RunState) -> RunId:
    """Once there is one; nobody looks at a page to learn what the ledger says."""

    def look() -> RunId | None:
        found = up.platform.ledger.runs(BRONZE, kind=kind, states={state})
        return found[0].run_id if found else None

    return wait_for(look, seconds=300)


def config(op: str, run_id: RunId, **more: str) -> str:
    given = {"acting_as": "owner", "run": run_id} | more
    lines = [f"      {name}: {value}" for name, value in given.items()]
    return "\n".join(["ops:", f"  {op}:", "    config:", *lines, ""])


def test_thirty_days_are_launched_in_the_dialog_and_wait_for_an_owner(up, pages):
    days = f"[{DAYS.start}...{DAYS.last}]"
    pages.launch(STAGING, days, {"backfill/reason": "first load", "backfill/ticket": "T-1"})
    run_id = newest(up, RunKind.BACKFILL, RunState.AWAITING_PUBLISH)
    assert len(up.platform.ledger.run(run_id).days or ()) == len(DAYS)


def test_the_page_of_a_gate_has_a_verdict_for_each_day(pages):
    pages.open(f"/assets/{STAGING}?view=checks&checkDetail=key_unique")
    pages.see("Passed on all 30 judged days.")
    pages.see(f"{DAYS.last}")


def test_an_owner_approves_in_the_launchpad_and_it_is_published(up, pages):
    run_id = newest(up, RunKind.BACKFILL, RunState.AWAITING_PUBLISH)
    pages.run_job("approve_run", config("approve", run_id))
    assert newest(up, RunKind.BACKFILL, RunState.PUBLISHED) == run_id


def test_the_published_table_shows_thirty_days(pages):
    pages.open("/assets/bronze/readings?view=partitions")
    pages.see("Materialized (30)")


def test_what_was_published_is_rolled_back_with_a_second_word(up, pages):
    run_id = newest(up, RunKind.BACKFILL, RunState.PUBLISHED)
    undo = config("roll_back", run_id, acting_as="engineer", reason="not as announced")
    pages.run_job("roll_back_run", undo)
    (rollback,) = up.platform.ledger.runs(BRONZE, kind=RunKind.ROLLBACK)
    pages.run_job("approve_run", config("approve", rollback.run_id))
    pages.run_job("roll_back_run", undo)
    assert newest(up, RunKind.BACKFILL, RunState.ROLLED_BACK) == run_id


def test_the_table_s_page_says_who_took_the_rows_back(up, pages):
    pages.open(f"/assets/bronze/readings?view=partitions&partition={DAYS.last}")
    pages.see("rolled back by")
