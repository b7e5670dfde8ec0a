"""Tables for the terminal: each function turns values into one Rich table and decides nothing."""

from collections.abc import Iterable, Mapping, Sequence

from rich import box
from rich.table import Table

from backfill_platform.domain.changes import ChangeCount
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.runs import RunRecord


def change_table(changes: Sequence[ChangeCount], *, dimension: str, total: ChangeCount) -> Table:
    """`total` is of all values, also of those that are not shown."""
    table = Table(title=f"by {dimension}", title_justify="left", show_footer=True)
    totals = {name: getattr(total, name) for name in ("added", "removed", "changed", "unchanged")}
    table.add_column(dimension, footer="all")
    for name, total in totals.items():
        table.add_column(name, justify="right", footer=f"{total:,}")
    for change in changes:
        table.add_row(change.value, *(f"{getattr(change, name):,}" for name in totals))
    return table


NOTHING_HELD: Mapping[RunId, int] = {}


def run_table(runs: Iterable[RunRecord], *, held: Mapping[RunId, int] = NOTHING_HELD) -> Table:
    """A run on one line; when it is narrow the reason gives way, never the run's name. `held`
    counts the verdicts of a run that wait for an owner's review."""
    rows = [(run.run_id, run.kind.value, _state(run, held), run.reason) for run in runs]
    table = Table(title="Runs", title_justify="left", box=box.SIMPLE)
    for position, name in enumerate(("run", "kind", "state")):
        table.add_column(name, min_width=max((len(row[position]) for row in rows), default=0))
    table.add_column("reason", no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*row)
    return table


def _state(run: RunRecord, held: Mapping[RunId, int]) -> str:
    waiting = held.get(run.run_id, 0)
    return f"{run.state} ({waiting:,} held)" if waiting else run.state.value
