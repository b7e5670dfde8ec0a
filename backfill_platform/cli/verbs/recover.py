"""Verb `recover`: finishes what a crash left half done, as the target's log decides. No JVM.

At last Dagster is told, where there is one, what is accepted now, and how it was judged, where it
does not show that.
"""

from collections.abc import Collection
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from backfill_platform.cli.completing import complete_runs
from backfill_platform.cli.confirming import Choice, may_act, read_choice
from backfill_platform.cli.figures import show_count
from backfill_platform.cli.opening import find_run, open_everything
from backfill_platform.cli.options import Confirm, DryRun, Json
from backfill_platform.cli.output import emit, show
from backfill_platform.cli.telling_dagster import (
    Telling,
    count_untold,
    tell_dagster_all,
    warn_if_untold,
)
from backfill_platform.domain.plain import to_plain

if TYPE_CHECKING:
    from backfill_platform.domain.identity import RunId
    from backfill_platform.engine.platform import Platform
    from backfill_platform.engine.recover.recovering import Recovery


def recover(
    run: Annotated[
        str,
        typer.Argument(metavar="[RUN]", help="Else the newest.", autocompletion=complete_runs),
    ] = "",
    dry_run: DryRun = False,
    confirm: Confirm = False,
    as_json: Json = False,
) -> None:
    """Finish what a crash left half done; publishes nothing, and again does nothing.

    What the target's log holds is recorded, with all that follows from it. What it does not hold is
    given up, so that it may be published again. Dagster is told what it does not show.
    """
    choice = read_choice(dry_run=dry_run, confirm=confirm)
    from backfill_platform.engine.recover.recovering import find_half_done

    platform = open_everything()
    run_id = find_run(platform.ledger, run).run_id if run else None
    if choice is not Choice.ACT:
        found = find_half_done(platform, run_id)
        untold = count_untold(platform, _tables(platform, run_id))
        is_well = not untold.partitions and not any(one.remedies for one in found)
        if choice is Choice.SHOW or is_well:
            _tell(found, untold, run_id, done=False, as_json=as_json)
            return
        show(_screen(found, untold, run_id, done=False))
    if may_act(choice, "Recover?"):
        _act(platform, run_id, as_json=as_json)


def _act(platform: "Platform", run_id: "RunId | None", *, as_json: bool) -> None:
    from backfill_platform.engine.recover import recovering

    found = recovering.recover(platform, run_id)
    told = tell_dagster_all(platform, _tables(platform, run_id))
    _tell(found, told, run_id, done=True, as_json=as_json)


def _tables(platform: "Platform", run_id: "RunId | None") -> "dict[str, Collection[date]]":
    """Of a run its own days; else all that the newest runs may have touched, and all that was ever
    accepted in their tables."""
    from backfill_platform.engine.recover.recovering import NEWEST

    if run_id is not None:
        record = platform.ledger.run(run_id)
        return {record.table: tuple(record.days or ())}
    days: dict[str, set[date]] = {}
    for run in platform.ledger.runs(limit=NEWEST):
        days.setdefault(run.table, set()).update(run.days or ())
    return {
        table: days[table] | set(platform.ledger.table_history(table)) for table in sorted(days)
    }


def _tell(
    found: tuple["Recovery", ...],
    dagster: Telling,
    run_id: "RunId | None",
    *,
    done: bool,
    as_json: bool,
) -> None:
    if as_json:
        emit([_document(one) for one in found if run_id or not one.is_well])
    else:
        show(_screen(found, dagster, run_id, done=done))
    warn_if_untold(dagster, run_id or "")
    if dagster.problem or any(one.problem for one in found):
        raise typer.Exit(1)


def _document(one: "Recovery") -> dict[str, Any]:
    """Each remedy with its name, its fields and how it is said."""
    remedies = [
        {"remedy": type(remedy).__name__, "said": str(remedy), **to_plain(remedy)}
        for remedy in one.remedies
    ]
    return {**to_plain(one), "remedies": remedies, "is_well": one.is_well}


def _screen(
    found: tuple["Recovery", ...], dagster: Telling, run_id: "RunId | None", *, done: bool
) -> Text:
    when = "done" if done else "would be done"
    lines = [line for one in found if run_id or not one.is_well for line in _lines(one, when)]
    if dagster.partitions:
        count = show_count(dagster.partitions, "partition")
        lines.append(Text(f"Dagster, {when}: tell it of {count} what is accepted, how judged"))
    if run_id is None:
        well = sum(one.is_well for one in found)
        lines.append(Text(f"{well:,} of {show_count(len(found), 'run')} are well."))
    return Text("\n").join(lines)


def _lines(one: "Recovery", when: str) -> list[Text]:
    if one.is_well:
        return [Text.assemble((one.run_id, "bold"), f" is well: {one.state}, nothing to recover.")]
    return [
        Text.assemble((one.run_id, "bold"), f" is {one.state}"),
        *(Text(f"  {when}: {remedy}") for remedy in one.remedies),
        *(Text(f"  left alone: {why}", style="dim") for why in one.left_alone),
        *([Text(f"  not recovered: {one.problem}", style="bold red")] if one.problem else []),
    ]
