"""Verdicts that did not pass, for the terminal: figures that stray, and what each gate says."""

from collections.abc import Iterable, Sequence
from itertools import islice

from rich.table import Table
from rich.text import Text

from backfill_platform.cli.plan_screen import plain_table
from backfill_platform.cli.status_screen import OUTCOME_MARKS
from backfill_platform.domain.verdicts import Verdict

_SHOWN = 20
_SAID = 10


def figure_table(straying: Sequence[Verdict]) -> Table:
    """Expected against found, the figures of one verdict below each other."""
    table = plain_table()
    for name in ("", "day", "gate", "figure", "expected", "found"):
        table.add_column(name, overflow="fold")
    rows = [row for verdict in straying for row in _rows(verdict)]
    for row in rows[:_SHOWN]:
        table.add_row(*row)
    if len(rows) > _SHOWN:
        table.add_row("", f"and {len(rows) - _SHOWN:,} more", style="dim")
    return table


def _rows(verdict: Verdict) -> Iterable[Sequence[Text | str]]:
    day = (OUTCOME_MARKS[verdict.outcome], str(verdict.day), verdict.gate)
    straying = [figure for figure in verdict.figures if figure.strays]
    if not straying:
        yield (*day, "", verdict.expected, verdict.found)
    for figure in straying:
        name = f"{figure.name} of {figure.value}" if figure.value else figure.name
        yield (*day, name, figure.expected, figure.found)


def causes(straying: Iterable[Verdict]) -> Text:
    """Each once: of a week or a month that is judged as one, every day says the same."""
    said = dict.fromkeys(f"{verdict.gate}: {verdict.message}" for verdict in straying)
    lines = [*islice(said, _SAID)]
    if len(said) > _SAID:
        lines.append(f"and {len(said) - _SAID:,} more")
    return Text("\n".join(lines))
