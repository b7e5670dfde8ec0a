"""Gaps are found in real logs, folders and ledgers; no Spark."""

import os
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.gaps import GapKind
from backfill_platform.engine.gaps import late_data
from backfill_platform.engine.gaps.finding import find_gaps
from backfill_platform.engine.gaps.loose_commits import GONE
from backfill_platform.engine.gaps.repairing import repair_gaps
from backfill_platform.settings import load_settings
from backfill_platform_tests.engine.by_hand import write_rows
from backfill_platform_tests.engine.gaps.conftest import carry_out
from backfill_platform_tests.ledger.tampering import tamper
from backfill_platform_tests.readings import BRONZE, START, land, week

THREE_ROWS = (("a", 1), ("b", 2), ("c", 3))


@pytest.fixture
def declared() -> str:
    return "backfill_platform_tests.engine.gaps.declared:DECLARATIONS"


def found(platform) -> list[tuple[GapKind, str]]:
    return [(gap.kind, str(gap.days)) for gap in find_gaps(platform, [BRONZE])]


def land_late(platform, days: Iterable[date], rows=THREE_ROWS) -> None:
    """After whatever has been accepted by now."""
    asked = [*days]
    land(platform.landing, asked, rows)
    later = (platform.clock() + timedelta(hours=1)).timestamp()
    for day in asked:
        os.utime(platform.landing / "readings" / f"day={day}" / "readings.parquet", (later, later))


def folder_of(platform, day: date) -> Path:
    return platform.landing / "readings" / f"day={day}"


def test_where_all_that_landed_is_published_there_is_no_gap(repairing, publish):
    publish(week())
    assert found(repairing) == []


def test_a_table_that_does_not_exist_lacks_all_that_has_landed(repairing):
    assert found(repairing) == [(GapKind.INPUT_AHEAD, "2025-01-01..2025-01-07")]


def test_a_folder_without_files_is_a_hole_in_the_source(repairing, publish):
    (folder_of(repairing, date(2025, 1, 4)) / "readings.parquet").unlink()
    (folder_of(repairing, date(2025, 1, 5)) / "readings.parquet").rename(
        folder_of(repairing, date(2025, 1, 5)) / "_readings.parquet"
    )
    (repairing.landing / "readings" / "day=soon").mkdir()
    publish(week(days=3))
    assert found(repairing) == [
        (GapKind.INPUT_MISSING, "2025-01-04..2025-01-05"),
        (GapKind.INPUT_AHEAD, "2025-01-06..2025-01-07"),
    ]


def test_rows_that_land_after_a_day_was_accepted_are_found(repairing, publish):
    publish(week())
    land_late(repairing, week(days=2))
    (gap,) = find_gaps(repairing, [BRONZE])
    assert (gap.kind, gap.message) == (
        GapKind.LATE_DATA,
        "the inputs of 2025-01-01..2025-01-02 hold +2 rows since they were accepted",
    )


def test_files_that_land_again_with_as_many_rows_are_no_late_data(repairing, publish):
    publish(week())
    land_late(repairing, week(days=2), rows=(("a", 1), ("b", 2)))
    assert found(repairing) == []


def test_late_data_asks_for_consent_because_it_replaces_and_ends_when_it_is_published(
    repairing, publish, clock
):
    publish(week())
    land_late(repairing, [START])
    clock.advance(minutes=90)
    (planned,) = repair_gaps(repairing).planned
    assert planned.roles == ("lead",)
    assert found(repairing) == [(GapKind.LATE_DATA, "2025-01-01")]


def test_of_many_runs_with_late_data_only_the_newest_manifests_are_opened(
    repairing, publish, monkeypatch
):
    monkeypatch.setattr(late_data, "MOST_MANIFESTS", 2)
    for day in week(days=4):
        publish([day], f"by-hand-{day}")
    land_late(repairing, week(days=4))
    late = [days for kind, days in found(repairing) if kind is GapKind.LATE_DATA]
    assert late == ["2025-01-01..2025-01-02"]


def test_late_data_of_a_run_whose_manifest_was_changed_is_not_guessed(repairing, publish):
    run_id = publish(week())
    land_late(repairing, [START])
    url = load_settings().ledger_url
    tamper(url, "UPDATE run SET manifest_json = '{}' WHERE run_id = :run", run=run_id)
    assert found(repairing) == []


def test_a_commit_of_somebody_else_is_found(repairing, publish):
    publish(week())
    path = repairing.warehouse.table_path(BRONZE)
    write_rows(path, {START: ["c"]}, run_id="somebody")
    (gap,) = find_gaps(repairing, [BRONZE])
    assert (gap.kind, str(gap.days), gap.subject) == (
        GapKind.UNEXPLAINED_COMMIT,
        "2025-01-01",
        f"commit-{DeltaTable(path).version()}",
    )


def test_days_that_somebody_else_emptied_are_missing_and_who_did_it_is_told(repairing, publish):
    publish(week())
    DeltaTable(repairing.warehouse.table_path(BRONZE)).delete("day = '2025-01-03'")
    assert found(repairing) == [
        (GapKind.MISSING_PARTITION, "2025-01-03"),
        (GapKind.UNEXPLAINED_COMMIT, "2025-01-03"),
    ]


def test_a_compaction_is_no_unexplained_commit(repairing, publish):
    publish(week(days=1), "one")
    path = repairing.warehouse.table_path(BRONZE)
    publish(week(START + timedelta(days=1), days=6), "two")
    DeltaTable(path).optimize.compact()
    assert found(repairing) == []


def test_a_publication_that_landed_and_is_not_recorded_yet_is_explained(repairing, publish):
    publish(week())
    url = load_settings().ledger_url
    tamper(url, "UPDATE publication SET outcome = NULL, version = NULL, fact_at = NULL")
    assert found(repairing) == []


def test_a_strange_commit_that_was_noted_is_remembered_when_its_entry_is_gone(repairing, publish):
    publish(week())
    path = repairing.warehouse.table_path(BRONZE)
    write_rows(path, {START: ["c"]}, run_id="somebody")
    repair_gaps(repairing, [BRONZE])
    table = DeltaTable(path)
    table.create_checkpoint()
    (path / "_delta_log" / f"{table.version():020d}.json").unlink()
    (gap,) = find_gaps(repairing, [BRONZE])
    assert gap.message.endswith(f"(made by {GONE})")


def test_a_repair_of_a_day_that_somebody_emptied_fills_it_again(repairing, publish, clock):
    publish(week())
    DeltaTable(repairing.warehouse.table_path(BRONZE)).delete("day = '2025-01-03'")
    (planned,) = repair_gaps(repairing, [BRONZE]).planned
    assert (str(planned.days), planned.roles) == ("2025-01-03", ())
    carry_out(repairing, planned.run_id)
    assert found(repairing) == []
