"""What a Parquet file's footer says of its columns, as a Delta log says it of a file.

Parquet counts it while it writes; to have Spark count it again takes a seventh of the writing of
wide rows. A bound may be wider than what the file holds and never narrower: readers skip files by
it. So where a footer's bound may not hold, or cannot be written exactly, there is none.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from backfill_platform.domain.contracts import Column

_MOST_COLUMNS = 32  # as Delta itself keeps by default
_LONGEST = 32  # characters of a text that stand in a log, as Delta cuts them
_HIGHEST = "\U0010ffff"  # no text that goes on from the cut sorts after it
_EXACT_DIGITS = 15  # of a decimal that a reader may take for a float
_MILLISECOND = timedelta(milliseconds=1)

_Bounds = tuple[Any, Any]


def footer_statistics(file: Path, columns: Iterable[Column]) -> str:
    """`columns` are those of the table, in its order."""
    footer = pq.read_metadata(file)
    types = {column.name: column.type for column in list(columns)[:_MOST_COLUMNS]}
    found = dict(_of_columns(footer, types))
    bounds = {name: one for name, (_, one) in found.items() if one is not None}
    return json.dumps(
        {
            "numRecords": footer.num_rows,
            "minValues": {name: low for name, (low, _) in bounds.items() if low is not None},
            "maxValues": {name: high for name, (_, high) in bounds.items() if high is not None},
            "nullCount": {name: nulls for name, (nulls, _) in found.items() if nulls is not None},
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def _of_columns(
    footer: pq.FileMetaData, types: Mapping[str, str]
) -> Iterator[tuple[str, tuple[int | None, _Bounds | None]]]:
    for at in range(footer.num_columns):
        name = footer.schema.column(at).path
        if name in types:
            groups = range(footer.num_row_groups)
            told = [footer.row_group(group).column(at).statistics for group in groups]
            yield name, (_nulls(told), _bounds(told, types[name]))


def _nulls(told: Iterable[Any]) -> int | None:
    counts = [one.null_count if one is not None and one.has_null_count else None for one in told]
    return None if None in counts else sum(count for count in counts if count is not None)


def _bounds(told: list[Any], type_name: str) -> _Bounds | None:
    """Nothing where a part of the rows is not bounded; a part that holds nothing but nulls is."""
    written = _WRITTEN.get(type_name.partition("(")[0])
    bounded: list[Any] = [one for one in told if one is None or one.num_values]
    if written is None or not bounded or not all(one and one.has_min_max for one in bounded):
        return None
    try:
        return written(min(one.min for one in bounded), max(one.max for one in bounded))
    except (OverflowError, ValueError):  # an instant or a day that Python cannot name
        return None


def _as_it_is(low: Any, high: Any) -> _Bounds:
    return low, high


def _days(low: date, high: date) -> _Bounds:
    return low.isoformat(), high.isoformat()


def _instants(low: datetime, high: datetime) -> _Bounds:
    """Delta names them by the millisecond: the first not after the lowest, the first not before the
    highest."""
    highest = high if high.microsecond % 1000 == 0 else high + _MILLISECOND
    return _instant(low), _instant(highest)


def _instant(instant: datetime) -> str:
    utc = instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    return f"{utc.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def _texts(low: str, high: str) -> _Bounds:
    if len(high) <= _LONGEST:
        return low[:_LONGEST], high
    return low[:_LONGEST], None if high[_LONGEST] == _HIGHEST else high[:_LONGEST] + _HIGHEST


def _decimals(low: Decimal, high: Decimal) -> _Bounds | None:
    digits = (len(one.as_tuple().digits) for one in (low, high))
    return (float(low), float(high)) if max(digits) <= _EXACT_DIGITS else None


# Not of floating columns: Parquet passes over what is not a number, which Delta's readers take for
# the highest of all.
_WRITTEN: Mapping[str, Callable[[Any, Any], _Bounds | None]] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), _as_it_is),
    "date": _days,
    "timestamp": _instants,
    "string": _texts,
    "decimal": _decimals,
}
