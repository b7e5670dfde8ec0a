"""Tables for the terminal: each function turns values into one Rich table and decides nothing."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich import box
from rich.table import Table

from backfill_platform.domain.changes import ChangeCount
from backfill_platform.domain.runs import RunRecord
from backfill_platform.domain.verdicts import Verdict


def verdict_table(verdicts: Sequence[Verdict]) -> Table:
    table = Table(title="Gates", title_justify="left")
    for name in ("gate", "partitions", "passed", "failed", "first failure"):
        table.add_column(name, justify="left" if name in {"gate", "first failure"} else "right")
    ordered = sorted(verdicts, key=lambda verdict: verdict.gate)
    for gate, group in groupby(ordered, key=lambda verdict: verdict.gate):
        judged = list(group)
        failed = [verdict for verdict in judged if not verdict.has_passed]
        first = f"{failed[0].day}: {failed[0].message}" if failed else ""
        table.add_row(
            gate, str(len(judged)), str(len(judged) - len(failed)), str(len(failed)), first
        )
    return table


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


def run_table(runs: Iterable[RunRecord]) -> Table:
    """A run on one line; when it is narrow the reason gives way, never the run's name."""
    rows = [(run.run_id, run.kind.value, run.state.value, run.reason) for run in runs]
    table = Table(title="Runs", title_justify="left", box=box.SIMPLE)
    for position, name in enumerate(("run", "kind", "state")):
        table.add_column(name, min_width=max((len(row[position]) for row in rows), default=0))
    table.add_column("reason", no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*row)
    return table
