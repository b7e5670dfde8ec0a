"""Rows that were set aside are counted from what was written, and no reason is a row. No JVM."""

from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from backfill_platform.domain.errors import ContractBroken
from backfill_platform.domain.partitions import DayRange
from backfill_platform.validator.rejects import LONGEST_REASON, MOST_REASONS, count_rejects

MONDAY, TUESDAY = date(2026, 1, 5), date(2026, 1, 6)
DAYS = DayRange(MONDAY, date(2026, 1, 7))


def write(path: Path, *rejects: tuple[date, str]) -> None:
    days, reasons = zip(*rejects, strict=True)
    rows = pa.table({"day": pa.array(days, pa.date32()), "reject_reason": list(reasons)})
    write_deltalake(path, rows, partition_by=["day"])


def test_rejects_are_counted_by_day_and_reason(tmp_path: Path) -> None:
    write(tmp_path, (MONDAY, "no number"), (MONDAY, "no number"), (TUESDAY, "no meter"))
    assert count_rejects(tmp_path, "day", DAYS) == {
        MONDAY: {"no number": 2},
        TUESDAY: {"no meter": 1},
    }


def test_days_of_other_chunks_are_not_counted(tmp_path: Path) -> None:
    write(tmp_path, (MONDAY, "no number"), (date(2026, 1, 7), "no number"))
    assert count_rejects(tmp_path, "day", DAYS) == {MONDAY: {"no number": 1}}


def test_nothing_is_counted_where_nothing_was_set_aside(tmp_path: Path) -> None:
    assert count_rejects(tmp_path / "rejects", "day", DAYS) == {}


def test_a_reason_for_each_row_is_refused_without_quoting_one(tmp_path: Path) -> None:
    write(tmp_path, *((MONDAY, f"no number: 555-{row}") for row in range(MOST_REASONS + 1)))
    with pytest.raises(ContractBroken, match=f"{MOST_REASONS + 1} different reasons") as refused:
        count_rejects(tmp_path, "day", DAYS)
    assert "555" not in str(refused.value)


def test_a_reason_that_is_too_long_to_be_a_kind_is_refused(tmp_path: Path) -> None:
    write(tmp_path, (MONDAY, "x" * (LONGEST_REASON + 1)))
    with pytest.raises(ContractBroken, match="name kinds of rows"):
        count_rejects(tmp_path, "day", DAYS)
