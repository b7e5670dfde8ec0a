"""Where a run stands, on one screen: what it waits for, its chunks, its gates, who has agreed."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from backfill_platform.cli.candidate import candidate_path
from backfill_platform.cli.figures import (
    show_count,
    show_days,
    show_instant,
    show_money,
    show_rows,
    show_seconds,
)
from backfill_platform.cli.plan_screen import heading, plain_table, sections
from backfill_platform.domain.approvals import Approval, Decision
from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.reviews import Review
from backfill_platform.domain.verdicts import Outcome
from backfill_platform.engine.look.speed import Pace
from backfill_platform.engine.look.status import GateCount, RunStatus, UndoneRun, seconds_of

CHUNKS_SHOWN = 10

_STYLES = {
    Outcome.PASSED: "green",
    Outcome.WARNED: "yellow",
    Outcome.HELD: "bold yellow",
    Outcome.FAILED: "bold red",
}
OUTCOME_MARKS = {
    outcome: Text(mark, style=_STYLES[outcome])
    for outcome, mark in zip(Outcome, ("✓", "!", "?", "✗"), strict=True)
}
_CHUNK_STYLES = {ChunkStatus.FAILED: "red", ChunkStatus.CLAIMED: "cyan"}
_STATE_STYLES = {
    RunState.PUBLISHED: "bold green",
    RunState.VALIDATED: "bold green",
    RunState.FAILED: "bold red",
    RunState.REJECTED: "bold red",
    RunState.CANCELLED: "bold red",
    RunState.EXPIRED: "bold red",
    RunState.AWAITING_APPROVAL: "bold yellow",
    RunState.AWAITING_PUBLISH: "bold yellow",
}


def status_screen(status: RunStatus, now: datetime) -> Group:
    return Group(_heading(status), sections(_status_sections(status, now)))


def watch_screen(status: RunStatus, pace: Pace, now: datetime) -> Group:
    return Group(_heading(status), sections(_watch_sections(status, pace, now)))


def _heading(status: RunStatus) -> RenderableType:
    run = status.run
    return heading(
        f"{run.run_id}  {run.kind}", run.state, style=_STATE_STYLES.get(run.state, "bold cyan")
    )


def _status_sections(status: RunStatus, now: datetime) -> Iterator[tuple[str, RenderableType]]:
    run, partitions = status.run, status.manifest.target.partitions
    yield "why", Text(f"{run.reason} ({run.actor}, {show_instant(run.planned_at)})")
    count = show_count(len(partitions), "partition")
    yield "changes", Text(f"{run.table}: {count}, {show_days(partitions)}")
    if status.undoes is not None:
        yield "undoes", _undone(status, status.undoes)
    yield "state", Text(f"{run.state} since {show_instant(run.updated_at)}: {status.cause}")
    if status.next_step.waits_for:
        yield "waits", Text(f"for {status.next_step.waits_for}", style="bold")
    yield "done", _done(status)
    if status.taken_by:
        yield "since", _since(status)
    yield from _candidate_section(status)
    if status.chunks:
        yield "chunks", chunk_table(status.chunks, now)
    if status.gates:
        yield "gates", gate_table(status.gates)
    yield "consent", _consent(status, now)
    if status.chunks:
        yield "actual", _actual_table(status)


def _candidate_section(status: RunStatus) -> Iterator[tuple[str, RenderableType]]:
    """Folded nowhere: a path is copied from the screen."""
    path = candidate_path(status.manifest)
    if path is not None and status.staged:
        how = "candidate, never published" if status.manifest.never_publishes else "the new rows"
        yield "read at", Text(f"{path} ({how})", overflow="fold")


def _watch_sections(
    status: RunStatus, pace: Pace, now: datetime
) -> Iterator[tuple[str, RenderableType]]:
    yield "state", Text(f"{status.run.state}: {status.cause}")
    if status.next_step.waits_for:
        yield "waits", Text(f"for {status.next_step.waits_for}")
    if status.undoes is not None:
        yield "done", _done(status)
        return
    yield "done", _progress(status)
    yield "pace", Text(_pace(pace))
    if status.chunks:
        yield "chunks", chunk_table(status.chunks, now)


def _undone(status: RunStatus, undone: UndoneRun) -> Text:
    """To which version each day returns stands in the manifest, as what the rollback reads."""
    left = "in no partition any more"
    if undone.seen_now:
        left = f"in {show_count(undone.seen_now, 'partition')} now"
    lines = [Text.assemble((undone.run_id, "bold"), f", which is {undone.state} and seen {left}")]
    former = [pinned.snapshot for pinned in status.manifest.inputs]
    if former:
        span = former[0] if len(former) == 1 else f"{former[0]} to {former[-1]}"
        lines.append(Text(f"returns what version {span} held"))
    return Text("\n").join(lines)


def _since(status: RunStatus) -> Text:
    """What became of its partitions afterwards."""
    lines = [Text(f"{status.seen_now:,} of {status.changed:,} that it changed are seen now")]
    for taker in status.taken_by:
        how = "rolled back" if taker.is_rollback else "superseded"
        count = show_count(taker.partitions, "partition")
        lines.append(Text.assemble(f"{count} {how} by ", (taker.run_id, "bold")))
    return Text("\n").join(lines)


def _done(status: RunStatus) -> Text:
    if status.undoes is not None:
        returned = show_count(status.partitions, "partition")
        return Text(f"{status.changed:,} of {returned} returned; nothing is computed")
    failed = sum(gate.failed for gate in status.gates)
    judged = f"; {show_count(failed, 'negative verdict')}" if failed else ""
    judged += f"; {show_count(status.held, 'held verdict')} to review" if status.held else ""
    partitions = show_count(status.partitions, "partition")
    compared = f", {status.compared:,} compared" if status.compared else ""
    done = f"{status.staged:,} of {partitions} staged{compared}"
    return Text(f"{done}, {status.published:,} published{judged}")


def _progress(status: RunStatus) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    bar = ProgressBar(total=status.partitions, completed=status.staged, width=24)
    grid.add_row(bar, _done(status))
    return grid


def _pace(pace: Pace) -> str:
    speed = "no chunk is staged yet"
    if pace.rows_per_second is not None:
        speed = f"{pace.rows_per_second:,} rows a second"
    if pace.seconds_left is None:
        return speed
    basis = "" if pace.is_measured else ", by its estimate"
    return f"{speed}; {show_seconds(pace.seconds_left)} left{basis}"


def chunk_table(chunks: Sequence[ChunkRecord], now: datetime) -> Table:
    """The newest ones; how many there are before is said."""
    table = plain_table()
    for name in ("days", "status", "attempt", "rows in", "rows out", "time", "rows/s"):
        table.add_column(name, justify="left" if name in {"days", "status"} else "right")
    hidden = len(chunks) - CHUNKS_SHOWN
    if hidden > 0:
        table.add_row(f"{hidden:,} before", style="dim")
    for chunk in chunks[-CHUNKS_SHOWN:]:
        table.add_row(*_chunk_row(chunk, now), style=_CHUNK_STYLES.get(chunk.status))
    return table


def _chunk_row(chunk: ChunkRecord, now: datetime) -> Iterable[str]:
    ended = seconds_of(chunk)
    running = (now - chunk.started_at).total_seconds()
    speed = round(chunk.output_count / ended) if ended and chunk.output_count else None
    yield str(chunk.days)
    yield chunk.status
    yield str(chunk.attempt)
    yield show_rows(chunk.input_count)
    yield show_rows(chunk.output_count)
    yield show_seconds(running if ended is None else ended)
    yield show_rows(speed)


def gate_table(gates: Iterable[GateCount]) -> Table:
    """What did not pass says so by the worst that a day got."""
    table = plain_table()
    table.add_column("")
    table.add_column("gate")
    for outcome in Outcome:
        table.add_column(outcome.lower(), justify="right")
    table.add_column("first that strays", overflow="fold")
    for gate in gates:
        counts = {outcome: getattr(gate, outcome.lower()) for outcome in Outcome}
        worst = next((one for one in reversed(Outcome) if counts[one]), Outcome.PASSED)
        said = (_counted(outcome, count) for outcome, count in counts.items())
        table.add_row(OUTCOME_MARKS[worst], gate.gate, *said, gate.first_stray)
    return table


def _counted(outcome: Outcome, count: int) -> Text:
    if not count:
        return Text("0", style="dim")
    return Text(f"{count:,}", style="" if outcome is Outcome.PASSED else _STYLES[outcome])


def _consent(status: RunStatus, now: datetime) -> Text:
    asked = status.manifest.approval
    needed = " and ".join(asked.roles) or "nobody"
    lines = [Text(f"rule {asked.rule} asks {needed}")]
    lines += [_approval_line(one, now) for one in status.approvals]
    lines += [Text(f"! {role} is missing", style="yellow") for role in status.missing_roles]
    lines += [review_line(one) for one in status.reviews]
    return Text("\n").join(lines)


def _approval_line(one: Approval, now: datetime) -> Text:
    agreed = one.decision is Decision.APPROVED
    signed = ", signed" if one.signature else ""
    until = f", until {show_instant(one.expires_at)}" if agreed else f": {one.reason}"
    expired = " (expired)" if agreed and one.expires_at <= now else ""
    mark, style = ("✓", "green") if agreed and not expired else ("✗", "red")
    said = f"{one.decision.lower()} by {one.principal} as {one.role}{signed}{until}{expired}"
    return Text.assemble((f"{mark} ", style), said)


def review_line(one: Review) -> Text:
    agreed = one.decision is Decision.APPROVED
    said = show_count(one.held, "held verdict")
    signed = ", signed" if one.signature else ""
    mark, style = ("✓", "green") if agreed else ("✗", "red")
    how = "accepted" if agreed else "rejected"
    return Text.assemble(
        (f"{mark} ", style),
        f"{said} {how} by {one.principal} as {one.role}{signed}, "
        f"{show_instant(one.decided_at)}: {one.reason}",
    )


def _actual_table(status: RunStatus) -> Table:
    """The estimate against what has been taken so far."""
    table = plain_table()
    table.add_column("")
    for name in ("estimated", "actual", "of it"):
        table.add_column(name, justify="right")
    for row in _actual_rows(status):
        table.add_row(*row)
    return table


def _actual_rows(status: RunStatus) -> Iterator[tuple[str, str, str, str]]:
    planned, taken = status.manifest.estimate, status.taken
    read, out, seconds = taken.rows_planned, planned.rows_out.expected, planned.seconds.expected
    cost = planned.cost_usd.expected
    yield "rows in", show_rows(read), show_rows(taken.rows_read), _share(taken.rows_read, read)
    yield "rows out", show_rows(out), show_rows(taken.rows_out), _share(taken.rows_out, out)
    yield (
        "computing",
        show_seconds(seconds),
        show_seconds(taken.seconds),
        _share(taken.seconds, seconds),
    )
    yield "cost", show_money(cost), show_money(taken.cost_usd), _share(taken.cost_usd, cost)


def _share(actual: int | Decimal | None, expected: int | Decimal) -> str:
    return f"{actual / expected:.0%}" if actual is not None and expected else "–"
