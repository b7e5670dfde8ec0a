"""Verb `retire`: removes files that nobody sees and nobody may need, as the policy says. No JVM.

Without a word it only shows: nothing here asks, because what has gone cannot be taken back.
"""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table as Screen
from rich.text import Text

from backfill_platform.cli.completing import complete_tables
from backfill_platform.cli.confirming import refuse_both
from backfill_platform.cli.figures import show_bytes, show_count, show_instant
from backfill_platform.cli.opening import open_everything, refuse_unknown_name
from backfill_platform.cli.options import Confirm, DryRun, Json, os_user
from backfill_platform.cli.output import emit, show
from backfill_platform.cli.plan_options import RequestedBy
from backfill_platform.cli.plan_screen import heading, plain_table
from backfill_platform.domain.plain import to_plain

if TYPE_CHECKING:
    from backfill_platform.domain.retirements import RetiredPart, RetirementRecord
    from backfill_platform.engine.retire.retiring import Retired


def retire(
    table: Annotated[
        str,
        typer.Argument(metavar="[TABLE]", help="Else every table.", autocompletion=complete_tables),
    ] = "",
    requested_by: RequestedBy = "",
    dry_run: DryRun = False,
    confirm: Confirm = False,
    as_json: Json = False,
) -> None:
    """Show what the retention policy lets go of; with --confirm, remove it and record it.

    What the table references, what a planned rollback or an unfinished run needs, and all evidence
    stays, whatever its age.
    """
    refuse_both(dry_run=dry_run, confirm=confirm)
    from backfill_platform.engine.retire import retiring

    platform = open_everything()
    if table:
        refuse_unknown_name(table, platform.catalog.tables)
    tables = (table,) if table else tuple(platform.catalog.tables)
    if confirm:
        found = retiring.retire(platform, tables, actor=requested_by or os_user())
    else:
        found = retiring.find_retirable(platform, tables)
    _tell(found, is_done=confirm, as_json=as_json)


def _tell(found: tuple["Retired", ...], *, is_done: bool, as_json: bool) -> None:
    if as_json:
        emit([_document(one) for one in found])
    else:
        for one in found:
            show(*_screen(one, is_done=is_done))
        show(Text(_last_line(found, is_done=is_done)))
    if any(one.problem for one in found):
        raise typer.Exit(1)


def _document(one: "Retired") -> dict[str, Any]:
    plan = None if one.plan is None else to_plain(one.plan)
    return {"table": one.table, "plan": plan, "done": to_plain(one.done), "problem": one.problem}


def _screen(one: "Retired", *, is_done: bool) -> list[RenderableType]:
    if one.problem:
        return [heading(one.table, "not retired", style="bold red"), Text(one.problem)]
    if one.plan is None:
        return [heading(one.table, "there is no table yet")]
    if one.plan.obstacle:
        why = f"nothing goes now: {one.plan.obstacle}"
        return [heading(one.table, "stays", style="bold yellow"), Text(why)]
    shown: list[RenderableType] = [heading(one.table, _headline(one, is_done=is_done))]
    parts = _parts(one, is_done=is_done)
    if parts:
        shown.append(_parts_screen(parts))
    return [*shown, *_ends(one, is_done=is_done), *_spared(one.done), *_staying(one)]


def _parts(one: "Retired", *, is_done: bool) -> tuple["RetiredPart", ...]:
    if is_done:
        return tuple(part for record in one.done for part in record.intent.parts)
    return one.plan.parts if one.plan else ()


def _headline(one: "Retired", *, is_done: bool) -> str:
    parts = _parts(one, is_done=is_done)
    files = sum(len(part.files) for part in parts)
    size = show_bytes(sum(part.bytes for part in parts))
    if not files:
        return "nothing to retire"
    return f"{show_count(files, 'file')}, {size} {'retired' if is_done else 'would be retired'}"


def _parts_screen(parts: tuple["RetiredPart", ...]) -> Screen:
    screen = plain_table()
    screen.add_column("run", no_wrap=True)
    screen.add_column("why")
    screen.add_column("files", justify="right")
    screen.add_column("size", justify="right", no_wrap=True)
    screen.add_column("could return until")
    for part in parts:
        screen.add_row(
            part.run_id or "no run",
            part.reason.meaning,
            f"{len(part.files):,}",
            show_bytes(part.bytes),
            show_instant(part.possible_until),
        )
    return screen


def _ends(one: "Retired", *, is_done: bool) -> list[Text]:
    ended = [run_id for record in one.done for run_id in record.intent.ends]
    would_end = [*one.plan.ends] if one.plan and not is_done else []
    said = "has ended" if is_done else "would end"
    return [
        Text(f"{run_id} {said}: EXPIRED, and it is not taken up again")
        for run_id in (ended if is_done else would_end)
    ]


def _spared(done: tuple["RetirementRecord", ...]) -> list[Text]:
    return [
        Text(
            f"{show_count(len(record.spared), 'file')} of {record.retirement_id} stayed after all: "
            "something changed before they went",
            style="yellow",
        )
        for record in done
        if record.spared
    ]


def _staying(one: "Retired") -> list[Text]:
    return [
        Text(
            f"stays: {part.run_id or 'no run'}, {show_count(part.files, 'file')}, "
            f"{show_bytes(part.bytes)}: {part.why}"
            + (f", until {show_instant(part.until)}" if part.until else ""),
            style="dim",
        )
        for part in (one.plan.staying if one.plan else ())
    ]


def _last_line(found: tuple["Retired", ...], *, is_done: bool) -> str:
    going = [part for one in found for part in _parts(one, is_done=is_done)]
    if is_done:
        records = [record.retirement_id for one in found for record in one.done]
        return f"Recorded: {', '.join(records)}." if records else "Nothing had to go."
    return (
        "\nNothing is removed; the same with --confirm removes it and records it."
        if going
        else "\nNothing has to go."
    )
