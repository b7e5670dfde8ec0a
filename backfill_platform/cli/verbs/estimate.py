"""Verb `estimate`: rows, time and money of a run that nobody has planned yet. Writes nothing."""

from rich.text import Text

from backfill_platform.cli.figures import (
    show_count,
    show_days,
    show_money,
    show_rows,
    show_seconds,
)
from backfill_platform.cli.intents import Wish, build_intent, read_days
from backfill_platform.cli.opening import find_declared, open_everything
from backfill_platform.cli.options import Json, Table, os_user
from backfill_platform.cli.output import emit, show
from backfill_platform.cli.plan_options import (
    AcceptSchemaChange,
    AsOf,
    ComputeAll,
    Days,
    End,
    Full,
    Kind,
    KnownBy,
    Mode,
    References,
    Scope,
    Start,
    Transform,
)
from backfill_platform.cli.plan_screen import estimate_table, heading
from backfill_platform.domain.estimates import Estimate
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.plain import to_plain


def estimate(
    table: Table,
    days: Days = None,
    start: Start = None,
    end: End = None,
    full: Full = False,
    kind: Kind = RunKind.BACKFILL,
    mode: Mode = None,
    knowledge: KnownBy = None,
    transform: Transform = "",
    reference: References = None,
    compute_all: ComputeAll = False,
    publish_scope: Scope = None,
    as_of: AsOf = None,
    accept_schema_change: AcceptSchemaChange = None,
    as_json: Json = False,
) -> None:
    """Show the rows, the time and the money that a run would take."""
    from backfill_platform.engine.plan.estimating import estimate_run

    wish = Wish(
        days=read_days(days=days, start=start, end=end, full=full),
        kind=kind,
        mode=mode,
        knowledge=knowledge,
        transform_version=transform or None,
        references=tuple(reference or ()),
        publish_scope=publish_scope,
        as_of=as_of,
        accepted_schema_changes=frozenset(accept_schema_change or ()),
        computes_all=compute_all,
        requested_by=os_user(),
        reason="an estimate",
    )
    platform = open_everything()
    spec = find_declared(platform, table)
    intent = build_intent(platform, spec, wish)
    found = estimate_run(platform, intent)
    if as_json:
        emit(_document(intent, found))
    else:
        _show(intent, found)


def _document(intent: Intent, found: Estimate) -> dict[str, object]:
    days = to_plain(intent.days)["ranges"]
    return {"table": intent.table, "days": days, "estimate": to_plain(found)}


def _show(intent: Intent, found: Estimate) -> None:
    """The three lines that whoever asks wants first, and then the ranges and their basis."""
    seconds, cost = found.seconds, found.cost_usd
    count = show_count(len(intent.days), "partition")
    time = f"{show_seconds(seconds.low)} to {show_seconds(seconds.high)}"
    money = f"{show_money(cost.low)} to {show_money(cost.high)}"
    show(
        heading(f"{intent.table} {show_days(intent.days)}", count),
        Text(f"Total records: {show_rows(found.rows_read)}", style="bold"),
        Text(f"Estimated processing time: {show_seconds(seconds.expected)} ({time})", style="bold"),
        Text(f"Estimated cost: {show_money(cost.expected)} ({money})\n", style="bold"),
        estimate_table(found),
    )
