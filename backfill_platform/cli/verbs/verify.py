"""Verb `verify`: was anything changed behind the platform's back, in ledger or evidence?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from backfill_platform.cli.completing import complete_runs
from backfill_platform.cli.figures import show_count
from backfill_platform.cli.opening import find_run
from backfill_platform.cli.options import Json
from backfill_platform.cli.output import emit, show
from backfill_platform.domain.plain import to_plain
from backfill_platform.engine.desk import open_desk
from backfill_platform.engine.look.verifying import Verification, verify_run
from backfill_platform.engine.platform import Platform
from backfill_platform.governance.signatures import verifier
from backfill_platform.settings import load_settings

if TYPE_CHECKING:
    from backfill_platform.domain.runs import RunRecord

_ALL = 1_000_000


def verify(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="Else all.", autocompletion=complete_runs)
    ] = "",
    as_json: Json = False,
) -> None:
    """Find what was changed behind the platform's back in ledger, approvals or evidence."""
    desk = open_desk(load_settings())
    runs = (find_run(desk.ledger, run),) if run else desk.ledger.runs(limit=_ALL)
    found = _verify(desk, runs)
    if as_json:
        emit([to_plain(one) for one in found])
    else:
        show(_screen(found, with_notes=bool(run)))
    if not all(one.holds for one in found):
        raise typer.Exit(1)


def _verify(desk: Platform, runs: Sequence["RunRecord"]) -> list[Verification]:
    check_signature = verifier(desk.signers, now=desk.clock())
    return [
        verify_run(desk.ledger, desk.evidence, one.run_id, check_signature=check_signature)
        for one in runs
    ]


def _screen(found: list[Verification], *, with_notes: bool) -> Text:
    lines = [line for one in found for line in _lines(one, with_notes=with_notes)]
    broken = sum(not one.holds for one in found)
    checked = show_count(len(found), "run")
    if broken:
        lines.append(Text(f"{broken:,} of {checked} do not hold.", style="bold red"))
    else:
        lines.append(Text(f"Nothing was changed in {checked}.", style="bold green"))
    return Text("\n").join(lines)


def _lines(one: Verification, *, with_notes: bool) -> list[Text]:
    lines = [Text.assemble(("✗ ", "bold red"), f"{one.run_id}: {what}") for what in one.problems]
    if with_notes:
        lines += [Text(f"· {note}", style="dim") for note in one.notes]
    return lines
