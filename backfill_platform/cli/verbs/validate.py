"""Verb `validate`: how the gates judged a run, and whether its table still holds what it published.

No JVM: verdicts stand in the ledger, rows and files in the table's log.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from backfill_platform.cli.figures import show_count, show_rows
from backfill_platform.cli.opening import find_run, open_ledger
from backfill_platform.cli.options import Json, Run
from backfill_platform.cli.output import emit, show
from backfill_platform.cli.plan_screen import heading, plain_table, sections
from backfill_platform.cli.status_screen import gate_table
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.verdicts import Verdict
from backfill_platform.engine.loading import read_manifest
from backfill_platform.engine.look.status import count_verdicts
from backfill_platform.settings import load_settings

if TYPE_CHECKING:
    from backfill_platform.engine.look.holdings import Holding

_SHOWN = 10


def validate(run: Run, as_json: Json = False) -> None:
    """Show each gate's verdicts, and whether the table still holds what was published."""
    from backfill_platform.engine.look.holdings import check_holdings
    from backfill_platform.lakehouse.paths import Warehouse

    ledger, warehouse = open_ledger(), Warehouse(load_settings().warehouse)
    record = find_run(ledger, run)
    days = read_manifest(record).target.partitions
    verdicts = ledger.verdicts(record.run_id)
    held = check_holdings(ledger, warehouse, record.run_id, record.table, days)
    if as_json:
        emit({"verdicts": [*map(to_plain, verdicts)], "target": [*map(to_plain, held)]})
    else:
        show(heading(f"{record.run_id}  {record.table}", record.state))
        show(sections(_sections(verdicts, held)))
    if not all(verdict.has_passed for verdict in verdicts) or _moved(held):
        raise typer.Exit(1)


def _sections(
    verdicts: tuple[Verdict, ...], held: tuple["Holding", ...]
) -> Iterator[tuple[str, RenderableType]]:
    counts = count_verdicts(verdicts)
    yield "gates", gate_table(counts) if counts else Text("nothing is judged yet")
    failed = [verdict for verdict in verdicts if not verdict.has_passed]
    if failed:
        yield "failed", _failures(failed)
    yield "table", Text(_target_sentence(held))
    if _moved(held):
        yield "", _moved_table(_moved(held))


def _failures(failed: list[Verdict]) -> Table:
    table = plain_table()
    for name in ("day", "gate", "expected", "found"):
        table.add_column(name, overflow="fold")
    for verdict in failed[:_SHOWN]:
        table.add_row(str(verdict.day), verdict.gate, verdict.expected, verdict.found)
    if len(failed) > _SHOWN:
        table.add_row(f"and {len(failed) - _SHOWN:,} more", style="dim")
    return table


def _moved(held: tuple["Holding", ...]) -> list["Holding"]:
    return [one for one in held if not one.is_as_accepted]


def _target_sentence(held: tuple["Holding", ...]) -> str:
    if not held:
        return "consumers see no partition of this run"
    rows = show_count(sum(one.rows_accepted for one in held), "row")
    owed = f"{show_count(len(held), 'partition')} with {rows} are seen from this run"
    moved = len(_moved(held))
    if not moved:
        return f"{owed}, and the table's log holds exactly those"
    return f"{owed}, and {moved:,} of them do not hold what was accepted"


def _moved_table(moved: list["Holding"]) -> Table:
    table = plain_table()
    for name in ("day", "holds", "rows accepted", "rows found", "files"):
        table.add_column(name, justify="left" if name in {"day", "holds"} else "right")
    for one in moved[:_SHOWN]:
        table.add_row(
            str(one.day),
            one.held,
            show_rows(one.rows_accepted),
            show_rows(one.rows_found),
            show_rows(one.files_found),
            style="red",
        )
    if len(moved) > _SHOWN:
        table.add_row(f"and {len(moved) - _SHOWN:,} more", style="dim")
    return table
