"""Where a run stands, as one value for screens and programs: read from the ledger alone.

No catalog and no table is opened, so that looking is quick and works while everything else is busy.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby

from backfill_platform.domain.approvals import Approval
from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.comparisons import compared_days
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.reviews import (
    Review,
    held_chunks,
    reviews_among,
    verdicts_of,
    without_review,
)
from backfill_platform.domain.runs import Fate, RunRecord
from backfill_platform.domain.verdicts import Gate, Outcome, Verdict
from backfill_platform.engine.carry_out.pacing import cost_of_rows, rows_read_by_chunk
from backfill_platform.engine.loading import read_manifest
from backfill_platform.engine.look.next_step import NextStep, missing_roles, next_step
from backfill_platform.engine.publish.untold import untold
from backfill_platform.ledger.store import Ledger

# In these somebody or something is at work on the run, or may begin at any time.
MOVING = frozenset(
    {
        RunState.PLANNED,
        RunState.APPROVED,
        RunState.STAGING,
        RunState.STAGED,
        RunState.PUBLISHING,
    }
)

_SMALL_CENT = Decimal("0.0001")

_COMPUTED = frozenset({ChunkStatus.STAGED, ChunkStatus.VALIDATED, ChunkStatus.PUBLISHED})


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCount:
    """How one gate judged the staged partitions."""

    gate: Gate
    passed: int
    warned: int
    held: int
    failed: int
    first_stray: str  # a failed one before a held one, and a warning last; empty when all passed


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What the run has taken so far, in the terms of its estimate."""

    rows_read: int | None  # over all chunks; nothing where none has counted
    rows_planned: int  # of the same; days that two chunks need count twice
    rows_out: int
    seconds: int  # of computing, over all chunks
    cost_usd: Decimal | None  # at the rates of the plan


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneRun:
    """What a rollback takes back, and what is left of it."""

    run_id: RunId
    state: RunState
    seen_now: int  # partitions that consumers still see from it


@dataclass(frozen=True, slots=True, kw_only=True)
class Taker:
    """Another run that was accepted in the place of this one."""

    run_id: RunId
    partitions: int
    is_rollback: bool  # of this very run


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    run: RunRecord
    manifest: Manifest
    next_step: NextStep
    missing_roles: tuple[str, ...]
    approvals: tuple[Approval, ...]
    chunks: tuple[ChunkRecord, ...]
    partitions: int
    staged: int  # partitions
    published: int  # partitions, those included that did not change
    compared: int  # partitions, as they are staged now
    gates: tuple[GateCount, ...]
    held: int  # verdicts that wait for an owner's review
    reviews: tuple[Review, ...]  # the oldest first
    taken: Taken
    cause: str  # of the newest event: why it stands where it stands
    undoes: UndoneRun | None  # of a rollback
    changed: int  # partitions, those included that were taken from it since
    seen_now: int  # partitions that consumers see from it
    taken_by: tuple[Taker, ...]  # in the order in which they were planned

    @property
    def is_at_rest(self) -> bool:
        return self.run.state not in MOVING


def read_status(ledger: Ledger, run_id: RunId, now: datetime) -> RunStatus:
    record = ledger.run(run_id)
    manifest = read_manifest(record)
    approvals = ledger.approvals(run_id)
    missing = missing_roles(manifest, approvals, now)
    events = ledger.events(run_id)
    chunks = tuple(
        chunk for chunk in ledger.chunks(run_id) if chunk.status is not ChunkStatus.REPLACED
    )
    fate = ledger.fate(record.table, run_id)
    partitions, compared = len(manifest.target.partitions), len(compared_days(events, chunks))
    verdicts, reviews = ledger.verdicts(run_id), reviews_among(events)
    held = len(verdicts_of(without_review(held_chunks(chunks, verdicts), reviews)))
    return RunStatus(
        run=record,
        manifest=manifest,
        next_step=next_step(
            record.state,
            manifest,
            missing,
            held=held,
            is_compared=compared == partitions,
            is_untold=bool(untold(ledger, manifest)),
        ),
        missing_roles=missing,
        approvals=approvals,
        chunks=chunks,
        partitions=partitions,
        staged=_days_in(chunks, _COMPUTED),
        published=_days_in(chunks, frozenset({ChunkStatus.PUBLISHED})),
        compared=compared,
        gates=count_verdicts(verdicts),
        held=held,
        reviews=reviews,
        taken=_taken(manifest, chunks),
        cause=events[-1].cause,
        undoes=_undone(ledger, manifest),
        changed=fate.changed,
        seen_now=fate.seen_now,
        taken_by=_takers(ledger, run_id, fate),
    )


def _undone(ledger: Ledger, manifest: Manifest) -> UndoneRun | None:
    if manifest.undoes is None:
        return None
    undone = ledger.run(manifest.undoes.run_id)
    fate = ledger.fate(undone.table, undone.run_id)
    return UndoneRun(run_id=undone.run_id, state=undone.state, seen_now=fate.seen_now)


def _takers(ledger: Ledger, run_id: RunId, fate: Fate) -> tuple[Taker, ...]:
    taken_by = ((ledger.run(taker), partitions) for taker, partitions in fate.taken_by.items())
    ordered = sorted(taken_by, key=lambda taken: taken[0].planned_at)
    return tuple(
        Taker(run_id=record.run_id, partitions=partitions, is_rollback=undone_by(record) == run_id)
        for record, partitions in ordered
    )


def undone_by(record: RunRecord) -> RunId | None:
    """Which run a rollback takes back; nothing for every other run."""
    undoes = read_manifest(record).undoes if record.kind is RunKind.ROLLBACK else None
    return undoes.run_id if undoes else None


def follow_status(read: Callable[[], RunStatus], wait: Callable[[], None]) -> Iterator[RunStatus]:
    """Each look at the run, the last one when it has come to rest."""
    while not (status := read()).is_at_rest:
        yield status
        wait()
    yield status


def count_verdicts(verdicts: tuple[Verdict, ...]) -> tuple[GateCount, ...]:
    """In the order in which gates judge."""
    order = list(Gate)
    ordered = sorted(verdicts, key=lambda verdict: order.index(verdict.gate))
    return tuple(
        _count(gate, tuple(judged))
        for gate, judged in groupby(ordered, key=lambda verdict: verdict.gate)
    )


def _count(gate: Gate, judged: tuple[Verdict, ...]) -> GateCount:
    counts = Counter(verdict.outcome for verdict in judged)
    worst = worst_first(judged)
    return GateCount(
        gate=gate,
        passed=counts[Outcome.PASSED],
        warned=counts[Outcome.WARNED],
        held=counts[Outcome.HELD],
        failed=counts[Outcome.FAILED],
        first_stray=f"{worst[0].day}: {worst[0].message}" if worst else "",
    )


def worst_first(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Those that have not passed: what fails, then what is held, then warnings; by day."""
    order = [*reversed(Outcome)]
    straying = (verdict for verdict in verdicts if not verdict.has_passed)
    return tuple(sorted(straying, key=lambda one: (order.index(one.outcome), one.day)))


def count_unreviewed(ledger: Ledger, run_id: RunId) -> int:
    """Held verdicts that wait for an owner's word."""
    return len(verdicts_of(without_review(ledger.held_chunks(run_id), ledger.reviews(run_id))))


def _days_in(chunks: tuple[ChunkRecord, ...], statuses: frozenset[ChunkStatus]) -> int:
    return sum(len(chunk.days) for chunk in chunks if chunk.status in statuses)


def _taken(manifest: Manifest, chunks: tuple[ChunkRecord, ...]) -> Taken:
    counted = [chunk.input_count for chunk in chunks if chunk.input_count is not None]
    rows_read = sum(counted) if counted else None
    cost = None if rows_read is None else cost_of_rows(manifest, rows_read)
    return Taken(
        rows_read=rows_read,
        rows_planned=sum(rows_read_by_chunk(manifest, days) for days in manifest.chunks),
        rows_out=sum(chunk.output_count or 0 for chunk in chunks),
        seconds=round(sum(seconds_of(chunk) or 0 for chunk in chunks)),
        cost_usd=cost and cost.quantize(_SMALL_CENT, rounding=ROUND_HALF_UP),
    )


def seconds_of(chunk: ChunkRecord) -> float | None:
    """How long computing it took, once it has ended."""
    if chunk.finished_at is None:
        return None
    return (chunk.finished_at - chunk.started_at).total_seconds()
