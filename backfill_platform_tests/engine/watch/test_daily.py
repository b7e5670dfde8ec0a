"""What the daily load is about: what lacks the day, and can have it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from backfill_platform.domain.modes import PublishScope
from backfill_platform.domain.partitions import Boundary, DayRange
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.watch.daily import find_daily_load
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.readings import BRONZE, LANDING, SILVER, START, week

DAY = START + timedelta(days=2)
NOT_LANDED = START + timedelta(days=20)


def declare(platform, table: str, **said):
    tables = dict(platform.catalog.tables)
    tables[table] = replace(tables[table], **said)
    return replace(platform, catalog=replace(platform.catalog, tables=tables))


def load(platform, intent, table: str, *rows: str) -> None:
    manifest = plan_run(platform, intent(table, DayRange.of_day(DAY), f"load {table}"))
    run_by_hand(platform, manifest, {DAY: rows})


def test_every_table_is_loaded_inputs_first(platform) -> None:
    assert find_daily_load(platform, DAY).tables == (BRONZE, SILVER)


def test_a_day_that_has_not_landed_is_named_and_nothing_is_loaded(platform) -> None:
    found = find_daily_load(platform, NOT_LANDED)
    assert found.tables == ()
    assert found.missing == (LANDING, BRONZE)
    assert found.why_nothing.startswith(f"{LANDING}, {BRONZE} holds nothing for {NOT_LANDED}")


def test_what_has_the_day_is_not_loaded_again(platform, intent) -> None:
    load(platform, intent, BRONZE, "a")
    assert find_daily_load(platform, DAY).tables == (SILVER,)


def test_when_every_table_has_the_day_there_is_nothing_to_do(platform, intent) -> None:
    load(platform, intent, BRONZE, "a")
    load(platform, intent, SILVER, "1")
    found = find_daily_load(platform, DAY)
    assert (found.tables, found.why_nothing) == ((), f"every daily table has {DAY} already")


@pytest.mark.parametrize(
    "said",
    [
        {"boundary": Boundary.MONTH},
        {"publish_scope": PublishScope.DUAL_READ},
        {"start": week().end_exclusive},
    ],
)
def test_what_no_night_could_load_by_itself_is_left_out(platform, said) -> None:
    assert find_daily_load(declare(platform, SILVER, **said), DAY).tables == (BRONZE,)
