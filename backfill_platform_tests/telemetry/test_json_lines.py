"""How a line of the journal is written, and that writing it stops nothing."""

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.journal import JournalLine, Level, Subject
from backfill_platform.telemetry.json_lines import LOGGER, as_sentence, make_journal

NOW = datetime(2026, 7, 4, 9, 0, tzinfo=UTC)
CHUNK = Subject(
    run_id=RunId("bf-20260704-case_sla_daily-3.1.0-001"),
    chunk_id="20250101-20250103",
    source_range="2024-12-31..2025-01-04",
    transform_version="case-sla/3.1.0",
    target="silver.case_sla_daily",
    processing_mode="BACKFILL",
)


def line(level: Level = Level.INFO, **figures: int) -> JournalLine:
    return JournalLine(event="chunk_staged", at=NOW, level=level, subject=CHUNK, figures=figures)


def test_a_line_is_one_document_with_every_field(tmp_path: Path) -> None:
    make_journal(tmp_path / "logs" / "a.jsonl", Level.INFO)(line(output_records=6))
    assert json.loads((tmp_path / "logs" / "a.jsonl").read_text()) == {
        "event": "chunk_staged",
        "at": "2026-07-04T09:00:00+00:00",
        "level": "INFO",
        "run_id": "bf-20260704-case_sla_daily-3.1.0-001",
        "chunk_id": "20250101-20250103",
        "source_range": "2024-12-31..2025-01-04",
        "transform_version": "case-sla/3.1.0",
        "target": "silver.case_sla_daily",
        "processing_mode": "BACKFILL",
        "output_records": 6,
    }


def test_what_is_below_the_level_is_not_written(tmp_path: Path) -> None:
    journal = make_journal(tmp_path / "a.jsonl", Level.WARNING)
    journal(line(Level.INFO))
    journal(line(Level.ERROR))
    (written,) = (tmp_path / "a.jsonl").read_text().splitlines()
    assert json.loads(written)["level"] == "ERROR"


def test_lines_of_several_writers_stay_whole(tmp_path: Path) -> None:
    journals = [make_journal(tmp_path / "a.jsonl", Level.INFO) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: journals[number % 4](line(number=number)), range(200)))
    written = (tmp_path / "a.jsonl").read_text().splitlines()
    assert {json.loads(one)["number"] for one in written} == set(range(200))


def test_a_journal_that_was_moved_away_begins_anew(tmp_path: Path) -> None:
    journal = make_journal(tmp_path / "a.jsonl", Level.INFO)
    journal(line(number=1))
    (tmp_path / "a.jsonl").rename(tmp_path / "a.jsonl.1")
    journal(line(number=2))
    assert json.loads((tmp_path / "a.jsonl").read_text())["number"] == 2


def test_a_journal_that_cannot_be_written_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    make_journal(tmp_path / "file" / "a.jsonl", Level.INFO)(line())
    assert "cannot be written" in caplog.messages[-1]


def test_the_same_is_said_to_pythons_logging(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger=LOGGER):
        make_journal(tmp_path / "a.jsonl", Level.INFO)(line(Level.WARNING, output_records=6))
    assert (caplog.records[-1].levelname, caplog.messages[-1]) == (
        "WARNING",
        as_sentence(line(output_records=6)),
    )
