"""Verb `history`: which run each partition was and is owed to. Reads the ledger alone."""

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table as Screen
from rich.text import Text

from backfill_platform.cli.figures import show_days, show_instant, show_rows
from backfill_platform.cli.opening import open_ledger, refuse_unknown_name
from backfill_platform.cli.options import Json, Table
from backfill_platform.cli.output import emit, show
from backfill_platform.cli.plan_options import parse_day
from backfill_platform.cli.plan_screen import heading, plain_table
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.runs import AcceptedPartition, RunRecord

if TYPE_CHECKING:
    from backfill_platform.ledger.store import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What a run did to the table."""

    run: RunRecord
    published: int  # partitions, those included that did not change
    seen_now: int  # partitions that consumers see from it


def history(
    table: Table,
    day: Annotated[
        date | None, typer.Option(parser=parse_day, metavar="DAY", help="Of this partition.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="The newest runs.")] = 20,
    as_json: Json = False,
) -> None:
    """Show what each run changed in a table, or what one partition has ever held."""
    ledger = open_ledger()
    runs = ledger.runs(table, limit=limit)
    if not runs:
        refuse_unknown_name(table, {run.table for run in ledger.runs(limit=1000)})
    if day is None:
        _tell_table(table, [_contribution(ledger, run) for run in runs], as_json=as_json)
    else:
        _tell_day(table, day, ledger.accepted_history(table, day), as_json=as_json)


def _contribution(ledger: "Ledger", run: RunRecord) -> Contribution:
    published = ledger.covered_days(run.run_id, {ChunkStatus.PUBLISHED})
    accepted = ledger.accepted(run.table, published).values()
    seen = [one for one in accepted if one.run_id == run.run_id]
    return Contribution(run=run, published=len(published), seen_now=len(seen))


def _tell_table(table: str, found: list[Contribution], *, as_json: bool) -> None:
    if as_json:
        emit([_document(one) for one in found])
    else:
        show(heading(table, "newest run first"), _table_screen(found))


def _document(one: Contribution) -> dict[str, object]:
    document = to_plain(one)
    del document["run"]["manifest_json"]
    return document


def _table_screen(found: list[Contribution]) -> Text:
    """Two lines a run: what it did, and below it where and why."""
    return Text("\n").join(line for one in found for line in _lines(one))


def _lines(one: Contribution) -> tuple[Text, Text]:
    run = one.run
    did = f"{one.published:,} published, {one.seen_now:,} seen now"
    days = show_days(run.days) if run.days else "days unknown"
    return (
        Text.assemble((run.run_id, "bold"), f"  {run.kind}  {run.state}: {did}"),
        Text(f"    {days} · {run.reason} ({run.actor})", style="dim"),
    )


def _tell_day(
    table: str, day: date, found: tuple[AcceptedPartition, ...], *, as_json: bool
) -> None:
    if as_json:
        emit([to_plain(one) for one in found])
    elif found:
        show(heading(f"{table} {day}", "the last one is seen now"), _day_screen(found))
    else:
        show(Text(f"No run has published {day} of {table}."))


def _day_screen(found: tuple[AcceptedPartition, ...]) -> Screen:
    screen = plain_table()
    screen.add_column("version", justify="right")
    screen.add_column("run", no_wrap=True)
    screen.add_column("rows", justify="right")
    screen.add_column("accepted", no_wrap=True)
    screen.add_column("until", no_wrap=True)
    for one in found:
        until = show_instant(one.superseded_at) if one.superseded_at else "now"
        screen.add_row(
            f"{one.target_version}",
            one.run_id,
            show_rows(one.row_count),
            show_instant(one.accepted_at),
            until,
        )
    return screen
