"""Verb `history`: which run each partition was and is owed to. Reads the ledger, and only for a
time in the past the Delta log as well."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
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
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.fences import Fence
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.runs import NO_FATE, AcceptedPartition, Fate, RunRecord
from backfill_platform.engine.look.status import undone_by

if TYPE_CHECKING:
    from backfill_platform.ledger.store import Ledger

TAKERS_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What a run did to the table."""

    run: RunRecord
    published: int  # partitions, those included that did not change
    changed: int  # partitions
    seen_now: int  # partitions that consumers see from it
    undoes: RunId | None  # what a rollback takes back
    taken_by: Mapping[RunId, int]  # partitions that another run has replaced since


def _parse_instant(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError as wrong:
        raise typer.BadParameter(
            f"{text!r} is no time; write 2026-05-03T12:00 (UTC) or 2026-05-03T12:00+02:00"
        ) from wrong
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def history(
    table: Table,
    day: Annotated[
        date | None, typer.Option(parser=parse_day, metavar="DAY", help="Of this partition.")
    ] = None,
    at: Annotated[
        datetime | None,
        typer.Option(
            parser=_parse_instant,
            metavar="TIME",
            help="What consumers saw then: ledger and Delta log, held against each other.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="The newest runs.")] = 20,
    as_json: Json = False,
) -> None:
    """Show what each run changed in a table, what one partition has ever held, or what was seen at
    a time in the past."""
    ledger = open_ledger()
    runs = ledger.runs(table, limit=limit)
    if not runs:
        refuse_unknown_name(table, {run.table for run in ledger.runs(limit=1000)})
    if at is not None:
        _tell_moment(ledger, table, at, day, as_json=as_json)
    elif day is None:
        fates = ledger.fates(table)
        found = [_contribution(ledger, run, fates.get(run.run_id, NO_FATE)) for run in runs]
        _tell_table(table, found, ledger.open_fences(table, utc_now()), as_json=as_json)
    else:
        _tell_day(ledger, table, day, as_json=as_json)


def _tell_moment(
    ledger: "Ledger", table: str, at: datetime, day: date | None, *, as_json: bool
) -> None:
    # Here, because whoever asks the ledger alone does not wait for Delta.
    from backfill_platform.cli.seen_screen import seen_screen
    from backfill_platform.engine.look.seen_at import seen_at
    from backfill_platform.lakehouse.paths import Warehouse
    from backfill_platform.settings import load_settings

    seen = seen_at(ledger, Warehouse(load_settings().warehouse), table, at, day=day)
    if as_json:
        emit(to_plain(seen))
    else:
        show(seen_screen(seen))
    if not seen.is_agreed:
        raise typer.Exit(1)


def _contribution(ledger: "Ledger", run: RunRecord, fate: Fate) -> Contribution:
    """A rollback has no chunks: it publishes exactly what it changes."""
    published = len(ledger.covered_days(run.run_id, {ChunkStatus.PUBLISHED})) or fate.changed
    return Contribution(
        run=run,
        published=published,
        changed=fate.changed,
        seen_now=fate.seen_now,
        undoes=undone_by(run),
        taken_by=fate.taken_by,
    )


def _tell_table(
    table: str, found: list[Contribution], fences: tuple[Fence, ...], *, as_json: bool
) -> None:
    if as_json:
        emit([_document(one) for one in found])
    else:
        frozen = (_frozen(fence) for fence in fences)
        show(heading(table, "newest run first"), _table_screen(found), *frozen)


def _frozen(fence: Fence) -> Text:
    until = show_instant(fence.expires_at)
    what = f"Live writers wait for {fence.run_id} on {show_days(fence.days)}, until {until} at most"
    return Text(what, style="bold yellow")


def _document(one: Contribution) -> dict[str, object]:
    document = to_plain(one)
    del document["run"]["manifest_json"]
    return document


def _table_screen(found: list[Contribution]) -> Text:
    """A few lines a run: what it did, and below it where and why, and what became of that."""
    return Text("\n").join(line for one in found for line in _lines(one))


def _lines(one: Contribution) -> Iterator[Text]:
    run = one.run
    days = show_days(run.days) if run.days else "days unknown"
    yield Text.assemble((run.run_id, "bold"), f"  {run.kind}  {run.state}: {_did(one)}")
    yield Text(f"    {days} · {run.reason} ({run.actor})", style="dim")
    if one.undoes is not None:
        yield Text(f"    takes back {one.undoes}", style="dim")
    if one.taken_by:
        yield Text(f"    {_taken(one.taken_by)}", style="dim")


def _did(one: Contribution) -> str:
    if one.undoes is not None:
        return f"{one.changed:,} returned, {one.seen_now:,} seen now"
    return f"{one.published:,} published, {one.changed:,} changed, {one.seen_now:,} seen now"


def _taken(taken_by: Mapping[RunId, int]) -> str:
    shown = [f"{count:,} by {taker}" for taker, count in [*taken_by.items()][:TAKERS_SHOWN]]
    hidden = len(taken_by) - len(shown)
    return f"replaced since: {', '.join(shown)}{f' and {hidden:,} more runs' if hidden else ''}"


def _tell_day(ledger: "Ledger", table: str, day: date, *, as_json: bool) -> None:
    found = ledger.accepted_history(table, day)
    if as_json:
        emit([to_plain(one) for one in found])
    elif found:
        undone = {one.run_id: undone_by(ledger.run(one.run_id)) for one in found}
        title = heading(f"{table} {day}", "the last one is seen now")
        show(title, _day_screen(found), *_returns(undone))
    else:
        show(Text(f"No run has published {day} of {table}."))


def _day_screen(found: tuple[AcceptedPartition, ...]) -> Screen:
    screen = plain_table()
    screen.add_column("version", justify="right", no_wrap=True)
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


def _returns(undone: Mapping[RunId, RunId | None]) -> Iterator[Text]:
    """Below the table, where two names of runs have room."""
    for rollback, taken_back in undone.items():
        if taken_back is not None:
            yield Text.assemble("· ", (rollback, "bold"), f" took back {taken_back}")
