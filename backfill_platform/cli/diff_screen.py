"""What a run would change on one screen: what an owner reads before they say yes.

Turns a kept comparison into text and decides nothing. Rows come as texts that hold nothing private.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from backfill_platform.cli.figures import show_count, show_days, show_seconds
from backfill_platform.cli.plan_screen import heading, plain_table, sections
from backfill_platform.cli.screens import change_table
from backfill_platform.domain.changes import (
    Change,
    ChangeCount,
    ChangedValue,
    ColumnDrift,
    DimensionCounts,
    DriftUnit,
    RunDifferences,
    SampledRow,
    WatchedKey,
)
from backfill_platform.engine.publish.comparisons import KeptComparison

_VALUES_SHOWN = 15  # of a dimension
_COLUMNS_SHOWN = 4  # of a row


def diff_screen(kept: KeptComparison, largest: Sequence[SampledRow] | None) -> Group:
    found = kept.differences
    base = "an empty table" if found.base_version is None else f"version {found.base_version}"
    title = f"{found.run_id}  {show_days(found.days)}"
    return Group(
        heading(title, f"against {base} of {found.table}"),
        sections(_sections(kept, largest)),
    )


def query_lines(kept: KeptComparison) -> tuple[str, ...]:
    """How anybody asks the table more: with delta-rs and with Spark SQL. To be copied."""
    return (
        f'DeltaTable("{kept.path}", version={kept.version}).to_pandas()',
        "SELECT * FROM "
        f"delta.`{kept.path}` VERSION AS OF {kept.version} "
        "WHERE array_contains(samples, 'LARGEST') ORDER BY largest_rank",
    )


def _sections(
    kept: KeptComparison, largest: Sequence[SampledRow] | None
) -> Iterator[tuple[str, RenderableType]]:
    differences = kept.differences
    found = differences.found
    yield "read", Text("\n".join(_what_was_read(differences)))
    yield "rows", Text(_rows(found.totals, differences.equal_rows))
    for dimension in found.dimensions if differences.changed_days else ():
        yield "", _dimension_table(dimension, found.totals)
    if found.by_column:
        yield "columns", _column_table(found.by_column)
    moving = [one for one in found.drift if one.rows]
    if moving:
        yield "drift", _drift_table(moving)
    totals = [*_totals(moving)]
    if totals:
        yield "totals", Text("\n".join(totals))
    if found.watched:
        yield "watched", _watched_table(found.watched)
    yield "largest", _largest(largest, found.largest)
    yield "table", Text("\n".join(_where(kept)))


def _what_was_read(differences: RunDifferences) -> Iterator[str]:
    changed, equal = differences.changed_days, differences.equal_days
    if changed is None:
        yield "every partition equals the accepted one"
    else:
        yield f"{show_count(len(changed), 'partition')} that differ, {show_days(changed)}"
    if changed is not None and equal is not None:
        yield f"{show_count(len(equal), 'partition')} that equal the accepted ones were not read"
    for what, columns in (
        ("new columns", differences.added_columns),
        ("columns that go", differences.removed_columns),
    ):
        if columns:
            yield f"{what}: {', '.join(columns)}"
    if differences.found.not_kept:
        rows = show_count(differences.found.not_kept, "row")
        yield f"{rows} about subjects who are to be forgotten: counted, and shown nowhere"


def _rows(totals: ChangeCount, equal_rows: int) -> str:
    counted = [f"{getattr(totals, name):,} {name}" for name in ("added", "removed", "changed")]
    return f"{', '.join(counted)}, {totals.unchanged + equal_rows:,} the same"


def _dimension_table(dimension: DimensionCounts, total: ChangeCount) -> Group:
    shown = _most_changed(dimension.values)
    table = change_table(shown, dimension=dimension.column, total=total)
    more = len(dimension.values) - len(shown) + dimension.more_values
    if not more:
        return Group(table)
    return Group(table, Text(f"and {more:,} more values, which change less; --json", style="dim"))


def _most_changed(values: Sequence[ChangeCount]) -> list[ChangeCount]:
    """In their order."""
    ranked = sorted(values, key=lambda one: -(one.added + one.removed + one.changed))
    shown = set(ranked[:_VALUES_SHOWN])
    return [one for one in values if one in shown]


def _column_table(by_column: Mapping[str, int]) -> Table:
    table = plain_table()
    table.add_column("column")
    table.add_column("rows that change in it", justify="right")
    for name, rows in sorted(by_column.items(), key=lambda item: (-item[1], item[0])):
        table.add_row(name, f"{rows:,}")
    return table


def _drift_table(moving: Sequence[ColumnDrift]) -> Table:
    table = plain_table()
    table.add_column("column", overflow="fold")
    for name in ("rows", "sum of changes", "absolute", "greatest", "mean"):
        table.add_column(name, justify="right", overflow="fold")
    for one in moving:
        table.add_row(
            f"{one.column}{'' if one.is_exact else ' (rounded)'}",
            f"{one.rows:,}",
            _signed(one.sum_of_differences, one.unit),
            _amount(one.sum_of_absolute_differences, one.unit),
            _signed(one.greatest_difference, one.unit),
            _signed(_rounded(one.mean_difference), one.unit),
        )
    return table


def _totals(moving: Sequence[ColumnDrift]) -> Iterator[str]:
    """Of numbers alone: instants and dates have none."""
    for one in moving:
        if one.unit is DriftUnit.NUMBER:
            before, after = (
                _amount(side, one.unit) for side in (one.total_before, one.total_after)
            )
            yield f"{one.column}: {before} → {after}"


def _rounded(mean: Decimal | None) -> Decimal | None:
    """To hundredths, where that is not all there is."""
    return round(mean, 2) if mean is not None and abs(mean) >= 1 else mean


def _signed(figure: Decimal | None, unit: DriftUnit) -> str:
    sign = "" if not figure else "+" if figure > 0 else "-"
    return f"{sign}{_amount(None if figure is None else abs(figure), unit)}"


def _amount(figure: Decimal | None, unit: DriftUnit) -> str:
    if figure is None:
        return "–"
    if unit is DriftUnit.SECONDS and figure >= 1:
        return show_seconds(float(figure))
    text = f"{figure:,f}"
    short = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{short} {_UNITS[unit]}".rstrip()


_UNITS = {DriftUnit.NUMBER: "", DriftUnit.DAYS: "d", DriftUnit.SECONDS: "s"}


def _watched_table(watched: Sequence[WatchedKey]) -> Table:
    table = plain_table()
    table.add_column("key")
    table.add_column("rows")
    for one in watched:
        table.add_row(_key(one.key), _fate(one), style="bold yellow" if one.is_missing else None)
    return table


def _fate(one: WatchedKey) -> str:
    if one.is_missing:
        return "missing on both sides"
    counted = {name.lower(): getattr(one, name.lower()) for name in Change}
    return ", ".join(f"{rows:,} {name}" for name, rows in counted.items() if rows)


def _largest(rows: Sequence[SampledRow] | None, sampled: int) -> RenderableType:
    if not sampled:
        return Text("no row differs")
    if rows is None:
        return Text("the rows are no longer kept; compare again to see them")
    table = plain_table()
    table.add_column("key", overflow="fold")
    table.add_column("change")
    table.add_column("before → after", overflow="fold")
    for row in rows:
        table.add_row(_key(row.key), row.change.lower(), _values(row))
    return table


def _key(key: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in key.items())


def _values(row: SampledRow) -> str:
    shown = [_value(row.change, one) for one in row.values[:_COLUMNS_SHOWN]]
    more = len(row.values) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _value(change: Change, one: ChangedValue) -> str:
    match change:
        case Change.ADDED:
            return f"{one.column}: {one.after}"
        case Change.REMOVED:
            return f"{one.column}: {one.before}"
        case _:
            return f"{one.column}: {one.before or '∅'} → {one.after or '∅'}"


def _where(kept: KeptComparison) -> Iterator[str]:
    found = kept.differences.found
    yield f"{kept.path}, version {kept.version}"
    yield (
        f"every row that differs; samples: {found.largest} largest (each difference as a share of "
        f"its column's greatest, summed), {found.random} random"
        f"{', and those watched' if found.watched else ''}"
    )
