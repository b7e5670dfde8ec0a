"""The rows of a kept comparison that move the most, as texts for screens and programs. No JVM.

Invariant: no value of a private column leaves here
(test_no_private_value_stands_in_a_screen_or_the_evidence).
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow.compute as pc

from backfill_platform.domain.changes import Change, ChangedValue, SampledRow
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.comparisons import KeptComparison
from backfill_platform.governance.privacy import private_columns
from backfill_platform.lakehouse.rows import read_version

PRIVATE = "(private)"
_LONGEST = 60  # characters of a value: a screen is no place for a document


def largest_rows(
    platform: Platform, kept: KeptComparison, most: int
) -> tuple[SampledRow, ...] | None:
    """In their order; nothing where the table is no longer there: it was retired, for example."""
    spec = _declared(platform, kept.differences.table)
    shown = ("change", "changed_columns", "before", "after", "largest_rank")
    found = read_version(
        kept.path,
        kept.version,
        columns=(*spec.keys, *(name for name in shown)),
        where=pc.field("largest_rank") <= most,
    )
    if found is None:
        return None
    private = private_columns(spec)
    rows = sorted(found.to_pylist(), key=lambda row: row["largest_rank"])
    return tuple(_sampled(row, spec, private) for row in rows)


def _declared(platform: Platform, table: str) -> TableSpec:
    spec = platform.catalog.tables.get(table)
    if spec is None:
        raise DeclarationInvalid(
            subject=table,
            field="name",
            problem="is no longer declared, so nobody can tell which of its columns are private; "
            "declare it again to see its rows",
        )
    return spec


def _sampled(row: Mapping[str, Any], spec: TableSpec, private: frozenset[str]) -> SampledRow:
    before, after = row["before"] or {}, row["after"] or {}
    change = Change(row["change"])
    named = row["changed_columns"] if change is Change.CHANGED else (*(before or after),)
    return SampledRow(
        key={name: PRIVATE if name in private else _text(row[name]) for name in spec.keys},
        change=change,
        values=tuple(
            _changed(name, PRIVATE, PRIVATE)
            if name in private
            else _changed(name, _text(before.get(name)), _text(after.get(name)))
            for name in named
        ),
    )


def _changed(name: str, before: str, after: str) -> ChangedValue:
    return ChangedValue(column=name, before=before, after=after)


def _text(value: object) -> str:
    if isinstance(value, datetime):
        value = f"{value.astimezone(UTC).replace(tzinfo=None)}Z"
    text = "" if value is None else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
