"""Spoils a landed day on purpose, to show that a failed gate protects what is published.

Each kind adds one clearly named file to the day's folder; `heal_day` takes it away again.
"""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from backfill_platform.enforcement.landing.files import day_folder
from backfill_platform.enforcement.landing.rows import LANDED_SCHEMA

POISONED_ROWS = 25

Row = dict[str, Any]


def poison_day(landing_root: Path, day: date, kind: str) -> Path:
    """Adds `poison-<kind>.parquet` to a landed day and returns its path."""
    if kind not in POISONS:
        raise ValueError(f"{kind!r} is no kind of poison; use one of {', '.join(POISONS)}")
    folder = day_folder(landing_root, day)
    landed = pq.read_table(folder / "part-00000.parquet").slice(0, POISONED_ROWS)
    rows = [POISONS[kind](row) for row in landed.to_pylist()]
    poisoned = folder / f"poison-{kind}.parquet"
    unfinished = poisoned.with_name(f".{poisoned.name}")
    pq.write_table(pa.Table.from_pylist(rows, schema=LANDED_SCHEMA), unfinished)
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


POISONS: Mapping[str, Callable[[Row], Row]] = {
    "duplicate_keys": _duplicate_key,
    "null_event_type": lambda row: _as_new_event(row) | {"event_type": None},
    "unknown_event_type": lambda row: _as_new_event(row) | {"event_type": "teleported"},
    "unknown_jurisdiction": lambda row: _as_new_event(row) | {"jurisdiction": "XX-99"},
    "negative_version": lambda row: _as_new_event(row) | {"source_version": -1},
}
