"""Some of the rows for which a gate did not pass, as a table; what is private is not among them."""

from collections.abc import Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from backfill_platform.cli.plan_screen import plain_table
from backfill_platform.domain.failing_rows import FailingRow

_OF_EACH = 3  # of a day, by gate and check; the table beside the run holds more
_IN_ALL = 30


def failing_table(rows: Sequence[FailingRow]) -> RenderableType:
    if not rows:
        return Text("no failing row is kept: each is as it should be, or was retired with the run")
    table = plain_table()
    for name in ("day", "gate", "check", "row", "found"):
        table.add_column(name, overflow="fold")
    shown = _first_of_each(rows)
    for row in shown[:_IN_ALL]:
        table.add_row(str(row.day), row.gate, row.check, _values(row.key), _values(row.found))
    _add_rest(table, len(rows) - len(shown[:_IN_ALL]))
    return table


def _first_of_each(rows: Sequence[FailingRow]) -> list[FailingRow]:
    seen: dict[tuple[object, ...], int] = {}
    shown: list[FailingRow] = []
    for row in rows:
        place = (row.day, row.gate, row.check)
        seen[place] = seen.get(place, 0) + 1
        if seen[place] <= _OF_EACH:
            shown.append(row)
    return shown


def _values(values: Mapping[str, str | None]) -> Text:
    """Rows hold what others wrote, and square brackets in it are no markup."""
    return Text(", ".join(f"{name}={_said(value)}" for name, value in values.items()))


def _said(value: str | None) -> str:
    return "null" if value is None else value


def _add_rest(table: Table, left: int) -> None:
    if left > 0:
        table.add_row(f"and {left:,} more beside the run", style="dim")
