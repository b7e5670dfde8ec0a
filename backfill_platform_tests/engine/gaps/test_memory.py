"""What is remembered of gaps is what a look would find, whatever has changed; no Spark."""

import os
from dataclasses import replace
from datetime import timedelta

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.gaps import GapKind
from backfill_platform.engine.gaps import finding
from backfill_platform.engine.gaps.finding import find_gaps, find_gaps_beside
from backfill_platform.engine.gaps.memory import GapMemory
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.lakehouse.delta_tables import create_table
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.engine.by_hand import write_rows
from backfill_platform_tests.engine.gaps.conftest import fail
from backfill_platform_tests.readings import BRONZE, SILVER, START, land, week

BOTH = (BRONZE, SILVER)


@pytest.fixture
def declared() -> str:
    return "backfill_platform_tests.engine.gaps.declared:DECLARATIONS"


def found_with(platform, memory: GapMemory, tables=BOTH):
    noted = platform.ledger.lasting_gaps(tables)
    return find_gaps_beside(platform, tables, noted, memory)


class AcceptedOnce(Ledger):
    """Counts how often years of accepted days are read."""

    def __init__(self, engine) -> None:
        super().__init__(engine)
        self.reads: list[str] = []

    def accepted_days(self, table):
        self.reads.append(table)
        return super().accepted_days(table)


@pytest.fixture
def counting(repairing):
    return replace(repairing, ledger=AcceptedOnce(repairing.ledger._engine))


def publish_more(platform, publish) -> None:
    publish(week(START + timedelta(days=3), days=1), "more")


def land_late(platform, publish) -> None:
    land(platform.landing, [START], [("a", 1), ("b", 2), ("c", 3)])
    later = (platform.clock() + timedelta(hours=1)).timestamp()
    os.utime(platform.landing / "readings" / f"day={START}" / "readings.parquet", (later, later))


def write_behind_its_back(platform, publish) -> None:
    write_rows(platform.warehouse.table_path(BRONZE), {START: ["c"]}, run_id="somebody")


def delete_a_day(platform, publish) -> None:
    DeltaTable(platform.warehouse.table_path(BRONZE)).delete("day = '2025-01-02'")


@pytest.mark.parametrize("change", [publish_more, land_late, write_behind_its_back, delete_a_day])
def test_what_is_remembered_is_what_a_look_would_find(repairing, publish, change):
    publish(week(days=3))
    memory = GapMemory()
    before = found_with(repairing, memory).gaps
    change(repairing, publish)
    after = found_with(repairing, memory).gaps
    assert after != before
    assert after == find_gaps(repairing, BOTH)


def test_a_run_that_fails_is_no_less_found_by_who_remembers(repairing, publish, intent, clock):
    publish(week(days=3))
    memory = GapMemory()
    found_with(repairing, memory)
    clock.advance(minutes=1)
    fail(repairing, plan_run(repairing, intent(BRONZE, week(days=2), "fails")).run_id)
    after = found_with(repairing, memory).gaps
    assert GapKind.RUN_ENDED in {gap.kind for gap in after}
    assert after == find_gaps(repairing, BOTH)


def test_another_day_is_looked_at_anew(counting, publish, clock):
    publish(week(days=3))
    memory = GapMemory()
    found_with(counting, memory)
    clock.advance(minutes=24 * 60)
    counting.ledger.reads.clear()
    found_with(counting, memory)
    assert set(counting.ledger.reads) == set(BOTH)


def test_a_loose_commit_is_looked_at_again_once_it_was_noted(repairing, publish):
    publish(week())
    write_behind_its_back(repairing, publish)
    memory = GapMemory()
    first = found_with(repairing, memory).gaps
    repairing.ledger.note_gaps(first, tables=BOTH, now=repairing.clock())
    assert found_with(repairing, memory).gaps == first


def test_what_has_not_changed_is_not_opened_again(counting, publish):
    publish(week(days=3))
    memory = GapMemory()
    first = found_with(counting, memory)
    counting.ledger.reads.clear()
    assert found_with(counting, memory) == first
    assert counting.ledger.reads == []


def test_what_changed_in_an_input_opens_what_reads_it_and_nothing_else(counting, publish):
    publish(week(days=3))
    memory = GapMemory()
    found_with(counting, memory)
    path, contract = counting.warehouse.table_path(SILVER), counting.catalog.contracts[SILVER]
    create_table(path, contract, partition_column="day")
    counting.ledger.reads.clear()
    found_with(counting, memory)
    assert set(counting.ledger.reads) == {SILVER, BRONZE}  # an input is read for it
    assert counting.ledger.reads.count(BRONZE) == 1


def test_a_look_that_takes_too_long_is_continued_by_the_next_one(repairing, publish, monkeypatch):
    publish(week(days=3))
    monkeypatch.setattr(finding, "LONGEST", timedelta(seconds=-1))
    memory = GapMemory()
    first, second = found_with(repairing, memory), found_with(repairing, memory)
    assert (first.tables, first.left) == ((BRONZE,), (SILVER,))
    assert (second.tables, second.left) == (BOTH, ())
    assert second.gaps == find_gaps(repairing, BOTH)


def test_years_of_an_input_are_read_once_for_all_that_read_it(counting, publish):
    publish(week(days=3))
    find_gaps(counting)
    assert counting.ledger.reads.count(BRONZE) == 1
