"""Verb `gaps`: what tables lack, or hold and nobody explains, and what would be done about it.

With --confirm the repairs that the policy lets be done unattended are planned, as the sensor does
it each minute. No JVM.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from backfill_platform.cli.completing import complete_tables
from backfill_platform.cli.confirming import refuse_both
from backfill_platform.cli.figures import show_count, show_days, show_instant
from backfill_platform.cli.opening import open_everything, refuse_unknown_name
from backfill_platform.cli.options import Confirm, DryRun, Json
from backfill_platform.cli.output import emit, show, show_next
from backfill_platform.domain.plain import to_plain

if TYPE_CHECKING:
    from backfill_platform.domain.gaps import Gap
    from backfill_platform.engine.gaps.repairing import RepairRound


def gaps(
    table: Annotated[
        str,
        typer.Argument(metavar="[TABLE]", help="Else every table.", autocompletion=complete_tables),
    ] = "",
    dry_run: DryRun = False,
    confirm: Confirm = False,
    as_json: Json = False,
) -> None:
    """Show gaps and what would be done about them; with --confirm, plan the unattended repairs.

    What the policy does not let be repaired unattended is only shown, with the reason.
    """
    refuse_both(dry_run=dry_run, confirm=confirm)
    from backfill_platform.engine.gaps.repairing import foresee_repairs, repair_gaps

    platform = open_everything()
    if table:
        refuse_unknown_name(table, platform.catalog.tables)
    look = repair_gaps if confirm else foresee_repairs
    found = look(platform, (table,) if table else ())
    if as_json:
        emit(_document(found, is_done=confirm))
    else:
        _show(found, is_done=confirm)


def _document(found: "RepairRound", *, is_done: bool) -> dict[str, Any]:
    """Of a look ahead the runs have no ids yet that anybody could rely on."""
    return {
        "gaps": [{"key": gap.key, **to_plain(gap)} for gap in found.gaps],
        "planned" if is_done else "would_plan": [
            {
                "key": one.gap.key,
                "days": to_plain(one.days),
                "attempt": one.attempt,
                "run_id": one.run_id if is_done else None,
                "roles": [*one.roles],
            }
            for one in found.planned
        ],
        "postponed": [
            {"key": one.gap.key, "why": one.why, "until": to_plain(one.until)}
            for one in found.postponed
        ],
        "reported": [{"key": one.gap.key, "why": one.why} for one in found.reported],
        "resolved": [*found.changes.resolved],
    }


def _show(found: "RepairRound", *, is_done: bool) -> None:
    if not found.gaps:
        show(Text("No gaps."))
        return
    show(Text("\n").join(_lines(found, is_done=is_done)), Text(_last_line(found, is_done=is_done)))
    if is_done and found.planned:
        show_next(tuple(f"backfill run {one.run_id} --confirm" for one in found.planned))


def _lines(found: "RepairRound", *, is_done: bool) -> Iterator[Text]:
    for planned in found.planned:
        said = f"{planned.run_id} is planned for" if is_done else "would be repaired on"
        asked = f", and waits for {' and '.join(planned.roles)}" if planned.roles else ""
        yield _gap(planned.gap, f"{said} {show_days(planned.days)}{asked}", style="green")
    for waits in found.postponed:
        until = f" (until {show_instant(waits.until)})" if waits.until else ""
        yield _gap(waits.gap, f"waits: {waits.why}{until}", style="yellow")
    for reported in found.reported:
        yield _gap(reported.gap, f"not repaired: {reported.why}", style="bold red")


def _gap(gap: "Gap", said: str, *, style: str) -> Text:
    days = show_days(gap.days) if gap.days else "days unknown"
    return Text.assemble(
        (gap.table, "bold"), f"  {gap.kind}  {days}\n  {gap.message}\n  ", (said, style)
    )


def _last_line(found: "RepairRound", *, is_done: bool) -> str:
    counted = f"{show_count(len(found.gaps), 'gap')}: "
    numbers = {
        "planned" if is_done else "would be repaired": len(found.planned),
        "wait": len(found.postponed),
        "not repaired unattended": len(found.reported),
    }
    said = ", ".join(f"{number:,} {what}" for what, number in numbers.items() if number)
    hint = "" if is_done or not found.planned else "; the same with --confirm plans the repairs"
    return f"{counted}{said}{hint}."
