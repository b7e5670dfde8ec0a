"""What consumers saw at an instant, on one screen: ranges of days that were told alike."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from backfill_platform.cli.figures import show_count, show_days, show_instant, show_rows
from backfill_platform.cli.plan_screen import heading, plain_table
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.look.seen_at import Agreement, Seen, SeenDay

_WORDS = {
    Agreement.AGREED: ("ledger and log agree", "green"),
    Agreement.RECORDED_LATER: ("they agree, recorded later", "green"),
    Agreement.DISAGREED: ("THEY DISAGREE", "bold red"),
    Agreement.LOG_GONE: ("the ledger alone says so", "bold yellow"),
}


def seen_screen(seen: Seen) -> Group:
    version = "before its first version" if seen.version is None else f"version {seen.version}"
    title = heading(f"{seen.table} at {show_instant(seen.at)}", version)
    if not seen.days:
        return Group(title, Text("Nothing was to be seen; ledger and log agree."))
    return Group(title, _table(seen.days), *_reasons(seen.days), _conclusion(seen))


def _table(found: tuple[SeenDay, ...]) -> Table:
    screen = plain_table()
    screen.add_column("days", no_wrap=True)
    screen.add_column("run", no_wrap=True)
    screen.add_column("rows", justify="right")
    screen.add_column("")
    for (name, agreement), group in groupby(found, key=_told):
        days = list(group)
        rows = [_rows(one) for one in days]
        words, style = _WORDS[agreement]
        screen.add_row(
            show_days(PartitionSet.of_days(one.day for one in days)),
            name,
            show_rows(sum(rows)),
            Text(words, style=style),
        )
    return screen


def _told(one: SeenDay) -> tuple[str, Agreement]:
    """The run as the ledger names it."""
    return (one.accepted.run_id if one.accepted else "none", one.agreement)


def _rows(one: SeenDay) -> int:
    """What was really there; where nobody can say any more, what was accepted."""
    if one.rows is not None:
        return one.rows
    return one.accepted.row_count if one.accepted else 0


def _reasons(found: Iterable[SeenDay]) -> Iterator[RenderableType]:
    told = [one for one in found if one.agreement is not Agreement.AGREED]
    for why, group in groupby(told, key=lambda one: one.why):
        days = show_days(PartitionSet.of_days(one.day for one in group))
        yield Text.assemble("· ", (days, "bold"), f": {why}")


def _conclusion(seen: Seen) -> Text:
    differing = sum(not one.agreement.is_whole for one in seen.days)
    total = show_count(len(seen.days), "day")
    if not differing:
        return Text(f"Ledger and Delta log agree on {total}.", style="bold green")
    return Text(f"Ledger and Delta log do not agree on {differing:,} of {total}.", style="bold red")
