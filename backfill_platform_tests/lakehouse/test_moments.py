"""The version that readers saw at an instant is the newest one that was committed by then."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from backfill_platform.lakehouse.moments import Moment, version_at

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)


def write_log(path: Path, *commits: dict[str, Any], first: int = 0) -> None:
    log = path / "_delta_log"
    log.mkdir()
    for version, info in enumerate(commits, start=first):
        (log / f"{version:020d}.json").write_text(json.dumps({"commitInfo": info}))


def at(minutes: int) -> dict[str, Any]:
    """As a commit tells its time."""
    return {"timestamp": int((NOON + timedelta(minutes=minutes)).timestamp() * 1000)}


@pytest.mark.parametrize(
    ("minutes", "version"), [(-1, None), (0, 0), (4, 0), (5, 1), (9, 1), (10, 2), (999, 2)]
)
def test_a_version_is_seen_from_its_commit_until_the_next(
    tmp_path: Path, minutes: int, version: int | None
) -> None:
    write_log(tmp_path, at(0), at(5), at(10))
    seen = version_at(tmp_path, NOON + timedelta(minutes=minutes))
    assert seen == Moment(version=version, is_known=True)


def test_before_what_the_log_still_holds_nobody_knows(tmp_path: Path) -> None:
    write_log(tmp_path, at(0), at(5), first=7)
    assert version_at(tmp_path, NOON - timedelta(minutes=1)) == Moment(version=None, is_known=False)
    assert version_at(tmp_path, NOON) == Moment(version=7, is_known=True)


def test_where_there_is_no_table_nothing_was_seen(tmp_path: Path) -> None:
    assert version_at(tmp_path, NOON) == Moment(version=None, is_known=True)


def test_a_commit_that_does_not_say_when_is_as_old_as_its_entry(tmp_path: Path) -> None:
    write_log(tmp_path, at(0), {"operation": "WRITE"})
    entry = tmp_path / "_delta_log" / f"{1:020d}.json"
    os.utime(entry, times=(NOON.timestamp() + 300, NOON.timestamp() + 300))
    assert version_at(tmp_path, NOON + timedelta(minutes=4)).version == 0
    assert version_at(tmp_path, NOON + timedelta(minutes=5)).version == 1
