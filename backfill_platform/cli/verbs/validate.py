"""Verb `validate`: how the gates judged a run, and whether its table still holds what it published.

No JVM: verdicts stand in the ledger, rows and files in the table's log. A warning is no failure,
and what is held waits for somebody.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from backfill_platform.cli.failing_screen import failing_table
from backfill_platform.cli.figures import show_count, show_rows
from backfill_platform.cli.main import EXIT_REFUSED, EXIT_WAITS
from backfill_platform.cli.opening import find_run, open_ledger
from backfill_platform.cli.options import Json, Run
from backfill_platform.cli.output import emit, show
from backfill_platform.cli.plan_screen import heading, plain_table, sections
from backfill_platform.cli.status_screen import gate_table, review_line
from backfill_platform.cli.verdict_screen import causes, figure_table
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.failing_rows import FailingRow
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.verdicts import Verdict
from backfill_platform.engine.look.status import RunStatus, read_status, worst_first
from backfill_platform.settings import load_settings

if TYPE_CHECKING:
    from backfill_platform.engine.look.holdings import Holding

_SHOWN = 10

Rows = Annotated[
    bool, typer.Option("--rows", help="With some of the rows for which a gate did not pass.")
]


def validate(run: Run, rows: Rows = False, as_json: Json = False) -> None:
    """Show each gate's verdicts, and whether the table still holds what was published."""
    from backfill_platform.engine.look.failing import failing_of
    from backfill_platform.engine.look.holdings import check_holdings
    from backfill_platform.lakehouse.paths import Warehouse

    ledger, warehouse = open_ledger(), Warehouse(load_settings().warehouse)
    found = read_status(ledger, find_run(ledger, run).run_id, utc_now())
    record, days = found.run, found.manifest.target.partitions
    verdicts = ledger.verdicts(record.run_id)
    seen = check_holdings(ledger, warehouse, record.run_id, record.table, days)
    failing = failing_of(warehouse, record.table, record.run_id, days) if rows else None
    if as_json:
        emit(_document(found, verdicts, seen, failing))
    else:
        show(heading(f"{record.run_id}  {record.table}", record.state))
        show(sections(_sections(found, verdicts, seen, failing)))
    if any(verdict.is_refusal for verdict in verdicts) or _moved(seen):
        raise typer.Exit(EXIT_REFUSED)
    if found.held and not found.manifest.never_publishes:
        raise typer.Exit(EXIT_WAITS)


def _document(
    found: RunStatus,
    verdicts: tuple[Verdict, ...],
    seen: tuple["Holding", ...],
    failing: tuple[FailingRow, ...] | None,
) -> dict[str, Any]:
    rows = {} if failing is None else {"rows": [*map(to_plain, failing)]}
    return rows | {
        "verdicts": [*map(to_plain, verdicts)],
        "gates": [*map(to_plain, found.gates)],
        "held": found.held,
        "reviews": [*map(to_plain, found.reviews)],
        "overridden": [*found.manifest.validation.overridden],
        "target": [*map(to_plain, seen)],
    }


def _sections(
    found: RunStatus,
    verdicts: tuple[Verdict, ...],
    seen: tuple["Holding", ...],
    failing: tuple[FailingRow, ...] | None,
) -> Iterator[tuple[str, RenderableType]]:
    yield "gates", gate_table(found.gates) if found.gates else Text("nothing is judged yet")
    straying = worst_first(verdicts)
    if straying:
        yield "figures", figure_table(straying)
        yield "why", causes(straying)
    if failing is not None:
        yield "rows", failing_table(failing)
    if found.reviews:
        yield "reviewed", Text("\n").join(review_line(one) for one in found.reviews)
    if found.manifest.validation.overridden:
        yield "judged", Text("\n".join(found.manifest.validation.overridden), style="yellow")
    yield "table", Text(_target_sentence(seen))
    if _moved(seen):
        yield "", _moved_table(_moved(seen))


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
