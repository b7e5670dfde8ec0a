"""Spoils a landed day on purpose, to show that a failed gate protects what is published.

Each kind adds one clearly named file to the day's folder; `heal_day` takes it away again.
"""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from backfill_platform.enforcement.landing.files import day_folder
from backfill_platform.enforcement.landing.rows import LANDED_SCHEMA

POISONED_ROWS = 25
AHEAD_OF_UTC = timedelta(hours=13)  # Auckland in summer

Row = dict[str, Any]


def poison_day(landing_root: Path, day: date, kind: str) -> Path:
    """Adds `poison-<kind>.parquet` to a landed day and returns its path."""
    if kind not in POISONS:
        raise ValueError(f"{kind!r} is no kind of poison; use one of {', '.join(POISONS)}")
    folder = day_folder(landing_root, day)
    landed = pq.read_table(folder / "part-00000.parquet").slice(0, POISONED_ROWS)
    rows = [POISONS[kind](row) for row in landed.to_pylist()]
    schema = LANDED_SCHEMA
    for added in COLUMNS_ADDED.get(kind, ()):
        schema = schema.append(added)
    poisoned = folder / f"poison-{kind}.parquet"
    unfinished = poisoned.with_name(f".{poisoned.name}")
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), unfinished)
    return unfinished.rename(poisoned)


def heal_day(landing_root: Path, day: date) -> tuple[Path, ...]:
    """Removes every poison from a day; what was landed has never been touched."""
    poisons = tuple(sorted(day_folder(landing_root, day).glob("poison-*.parquet")))
    for poison in poisons:
        poison.unlink()
    return poisons


def _duplicate_key(row: Row) -> Row:
    """The same event and source version with another content: one of the two must be wrong."""
    return row | {"payload": row["payload"].replace("{", '{"conflicts":true,', 1)}


def _as_new_event(row: Row) -> Row:
    """Ids that no landed row has, but of the right form: one kind of poison trips one gate."""
    case_id = f"{row['case_id'][:-7]}9{row['case_id'][-6:]}"
    return row | {"case_id": case_id, "event_id": f"{case_id}-{row['event_id'][-2:]}"}


def _in_local_time(row: Row) -> Row:
    """What a system sends that takes its own clock for UTC: half of it is still to come."""
    at, emitted = row["occurred_at"] + AHEAD_OF_UTC, row["emitted_at"] + AHEAD_OF_UTC
    return _as_new_event(row) | {"occurred_at": at, "emitted_at": emitted}


COLUMNS_ADDED: Mapping[str, tuple["pa.Field[Any]", ...]] = {
    "extra_column": (pa.field("risk_score", pa.string()),),
}
POISONS: Mapping[str, Callable[[Row], Row]] = {
    "duplicate_keys": _duplicate_key,
    "null_event_type": lambda row: _as_new_event(row) | {"event_type": None},
    "unknown_event_type": lambda row: _as_new_event(row) | {"event_type": "teleported"},
    "unknown_jurisdiction": lambda row: _as_new_event(row) | {"jurisdiction": "XX-99"},
    "negative_version": lambda row: _as_new_event(row) | {"source_version": -1},
    "local_time_as_utc": _in_local_time,
    "extra_column": lambda row: _as_new_event(row) | {"risk_score": "high"},
    "more_rows": _as_new_event,  # of a day that was loaded before
}
