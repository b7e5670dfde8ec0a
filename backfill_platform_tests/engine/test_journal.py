"""What the engine notes of its steps: with every field, and with nothing that a row says."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from backfill_platform.domain.errors import TargetMoved
from backfill_platform.domain.journal import JournalLine, Level
from backfill_platform.domain.ledger_figures import Counted
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.journal import about_chunk, note
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.recover.recovering import recover_run
from backfill_platform.engine.retire.retiring import retire
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand, write_rows
from backfill_platform_tests.engine.losing import losing
from backfill_platform_tests.engine.retire.lake import RETENTION, cancel, later
from backfill_platform_tests.readings import BRONZE, SILVER, week

DAYS = week(days=3)


@pytest.fixture
def lines() -> list[JournalLine]:
    return []


@pytest.fixture
def noting(platform: Platform, lines: list[JournalLine]) -> Platform:
    policy = replace(platform.policy, retention=RETENTION)
    return replace(platform, journal=lines.append, policy=policy)


@pytest.fixture
def staged(noting: Platform, intent) -> Manifest:
    planned = plan_run(noting, intent(BRONZE, DAYS, "first"))
    stage_by_hand(noting, planned, dict.fromkeys(DAYS, ("a", "b")))
    return planned


def events(lines: list[JournalLine]) -> list[str]:
    return [line.event for line in lines]


def test_a_publication_is_noted_when_it_is_intended_and_when_it_is_there(
    noting: Platform, staged: Manifest, lines: list[JournalLine]
) -> None:
    publish_chunk(noting, staged.run_id, DAYS)
    assert events(lines) == ["publication_intended", "publication_committed"]
    assert lines[-1].figures == {"partitions": 3, "version": 1}
    assert asdict(lines[-1].subject) == {
        "run_id": staged.run_id,
        "chunk_id": None,
        "source_range": "2025-01-01..2025-01-03",
        "transform_version": "load-readings/1.0.0",
        "target": BRONZE,
        "processing_mode": "BACKFILL",
    }


def test_a_refused_publication_is_noted_by_its_kind_alone(
    noting: Platform, staged: Manifest, lines: list[JournalLine]
) -> None:
    target = noting.warehouse.table_path(BRONZE)
    write_rows(target, {DAYS.start: ("x",)}, run_id="somebody")
    with pytest.raises(TargetMoved):
        publish_chunk(noting, staged.run_id, DAYS)
    assert events(lines) == ["publication_intended", "publication_refused"]
    assert lines[-1].figures == {"error": "TargetMoved", "code": "target-moved"}
    assert lines[-1].level is Level.WARNING


def test_what_changes_nothing_is_noted_as_that(
    noting: Platform, staged: Manifest, lines: list[JournalLine], intent
) -> None:
    publish_chunk(noting, staged.run_id, DAYS)
    again = plan_run(noting, intent(BRONZE, DAYS, "again"))
    lines.clear()
    run_by_hand(noting, again, dict.fromkeys(DAYS, ("a", "b")))
    assert events(lines) == ["publication_unneeded"]


def test_a_rollback_is_noted(noting: Platform, staged: Manifest, lines: list[JournalLine]) -> None:
    publish_chunk(noting, staged.run_id, DAYS)
    lines.clear()
    request = RollbackRequest(run_id=staged.run_id, days=None, reason="r", requested_by="tests")
    undoing = plan_rollback(noting, request)
    roll_back(noting, undoing.run_id)
    assert events(lines) == ["rollback_intended", "rollback_committed"]
    assert (lines[-1].subject.run_id, lines[-1].subject.source_range) == (undoing.run_id, None)


def test_a_recovery_is_noted_step_by_step(
    noting: Platform, staged: Manifest, lines: list[JournalLine]
) -> None:
    with pytest.raises(ConnectionError):
        publish_chunk(losing(noting, "record_fact"), staged.run_id, DAYS)
    lines.clear()
    recover_run(later(noting, days=1), staged.run_id)
    assert {line.event for line in lines} == {"run_recovered"}
    assert lines[0].figures == {"remedy": "RecordLanding"}


def test_a_retirement_is_noted_of_its_table(
    noting: Platform, staged: Manifest, lines: list[JournalLine]
) -> None:
    cancel(noting, staged)
    lines.clear()
    retire(later(noting, days=8), [BRONZE], actor="tests")
    assert events(lines) == ["retirement_intended", "retirement_finished"]
    assert (lines[-1].subject.target, lines[-1].subject.run_id) == (BRONZE, None)
    assert "tests" not in str(lines)


def test_a_chunk_that_could_not_be_computed_is_noted_without_what_was_said(
    noting: Platform, lines: list[JournalLine], intent
) -> None:
    planned = open_run(noting, intent(BRONZE, DAYS, "first"))
    with pytest.raises(RuntimeError):
        stage_chunk(noting, BrokenSpark(), planned.run_id, DAYS)  # pyright: ignore[reportArgumentType]
    assert events(lines) == ["chunk_claimed", "chunk_failed"]
    assert lines[-1].figures == {"error": "RuntimeError", "code": None}
    assert lines[-1].subject.chunk_id == "20250101-20250103"


def test_what_is_read_is_wider_than_what_is_published(
    noting: Platform, staged: Manifest, lines: list[JournalLine], intent
) -> None:
    publish_chunk(noting, staged.run_id, DAYS)
    middle = DayRange.of_day(DAYS.start.replace(day=2))
    totals = plan_run(noting, intent(SILVER, middle, "totals"))
    with about_chunk(totals, middle):
        note(noting, "here")
    assert lines[-1].subject.source_range == "2025-01-01..2025-01-03"


def test_outside_of_a_run_a_line_is_about_none(noting: Platform, lines: list[JournalLine]) -> None:
    note(noting, "here")
    assert set(asdict(lines[-1].subject).values()) == {None}


def test_a_chunk_is_noted_from_its_claim_to_its_judgement(
    noting: Platform, spark, lines: list[JournalLine], intent
) -> None:
    planned = open_run(noting, intent(BRONZE, DAYS, "first"))
    stage_chunk(noting, spark, planned.run_id, DAYS)
    assert events(lines) == [
        "chunk_claimed",
        "chunk_written",
        "chunk_measured",
        "chunk_staged",
        "chunk_judged",
    ]
    assert {line.subject.chunk_id for line in lines} == {"20250101-20250103"}
    assert lines[3].figures == {
        "input_records": 6,
        "output_records": 6,
        "partitions_left": None,
    }
    assert lines[4].figures["failed"] == 0
    assert {one.counted: one.amount for one in noting.ledger.figures().tallies}[
        Counted.WRITES_BY_MILLISECONDS
    ] == 1


class BrokenSpark:
    """Says in its error what stands in a row."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("row Row(name='Ana Example') could not be read")
