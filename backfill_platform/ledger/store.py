"""The ledger as the rest of the platform sees it: each method is one transaction.

What is written and why is decided in the modules beside this one. Time always comes in as `now`.
Values in, values out; an operation that is done twice equals one that is done once.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import date, datetime
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from backfill_platform.domain.announcements import Delivered, Delivery, DeliveryRecord
from backfill_platform.domain.approvals import Approval
from backfill_platform.domain.chunks import ChunkCounts, ChunkRecord, ClaimOutcome, build_chunk_id
from backfill_platform.domain.comparisons import Comparison
from backfill_platform.domain.errors import LostRace, SetupIncomplete
from backfill_platform.domain.estimates import PastChunk
from backfill_platform.domain.fences import Fence
from backfill_platform.domain.gaps import (
    AcceptedDay,
    EndedRun,
    Gap,
    GapReport,
    LastChange,
    NotedChanges,
    NotedGap,
)
from backfill_platform.domain.identity import GroupId, RunId
from backfill_platform.domain.judgements import Judgement, MeasuredDay
from backfill_platform.domain.ledger_figures import LedgerFigures
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.lineage import Due
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.repairs import RepairRun
from backfill_platform.domain.retirements import RetirementIntent, RetirementRecord
from backfill_platform.domain.reviews import HeldChunk, Review
from backfill_platform.domain.runs import (
    NO_FATE,
    AcceptedPartition,
    AcceptedRows,
    AlreadyRecorded,
    Fate,
    LandedPosition,
    LostRaceValue,
    Moved,
    NewRun,
    PublicationIntent,
    PublicationRecord,
    Recorded,
    RunEvent,
    RunInFlight,
    RunRecord,
)
from backfill_platform.domain.verdicts import Gate, Outcome, Verdict
from backfill_platform.ledger import accepted as _accepted
from backfill_platform.ledger import approvals as _approvals
from backfill_platform.ledger import chunks as _chunks
from backfill_platform.ledger import comparisons as _comparisons
from backfill_platform.ledger import deliveries as _deliveries
from backfill_platform.ledger import events as _events
from backfill_platform.ledger import fences as _fences
from backfill_platform.ledger import figures as _figures
from backfill_platform.ledger import findings as _findings
from backfill_platform.ledger import holding as _holding
from backfill_platform.ledger import judgements as _judgements
from backfill_platform.ledger import lineage as _lineage
from backfill_platform.ledger import pace as _pace
from backfill_platform.ledger import publications as _publications
from backfill_platform.ledger import reach as _reach
from backfill_platform.ledger import repairs as _repairs
from backfill_platform.ledger import retirements as _retirements
from backfill_platform.ledger import reviews as _reviews
from backfill_platform.ledger import runs as _runs
from backfill_platform.ledger import verdict_history as _verdict_history
from backfill_platform.ledger import verification as _verification
from backfill_platform.ledger import watching as _watching
from backfill_platform.ledger.alert_book import AlertBook
from backfill_platform.ledger.column_types import require_aware
from backfill_platform.ledger.database import make_engine, reading, writing
from backfill_platform.ledger.revisions import (
    current_revision,
    head_revision,
    refuse_unknown_revision,
)

_REGISTER_ATTEMPTS = 100


class Ledger:
    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, url: str) -> Self:
        revision = current_revision(url)
        refuse_unknown_revision(url, revision)
        if revision != head_revision():
            place = sa.make_url(url).render_as_string(hide_password=True)
            raise SetupIncomplete(
                f"The ledger {place} is at revision {revision or 'none'}, and this version of the "
                f"platform needs {head_revision()}. Run `backfill setup`."
            )
        return cls(make_engine(url))

    def close(self) -> None:
        self._engine.dispose()

    @property
    def alerts(self) -> AlertBook:
        return AlertBook(self._engine)

    def _read(self) -> AbstractContextManager[sa.Connection]:
        return reading(self._engine)

    @contextmanager
    def _write(self, now: datetime) -> Iterator[sa.Connection]:
        require_aware(now)
        with writing(self._engine) as connection:
            yield connection

    def figures(self) -> LedgerFigures:
        """Counts since the beginning, and how everything stands now."""
        with self._read() as connection:
            return _figures.read_figures(connection)

    def lineage_due(self, *, limit: int) -> tuple[Due, ...]:
        """What lineage has not been told of, the oldest first."""
        with self._read() as connection:
            return _lineage.read_due(connection, limit)

    def forget_lineage_due(self, positions: Collection[int], *, now: datetime) -> None:
        """After it was told; whoever else tells the same may have forgotten it already."""
        with self._write(now) as connection:
            _lineage.forget_due(connection, positions)

    def register_run(
        self,
        make_run: Callable[[int], NewRun],
        *,
        table: str,
        transform_version: str,
        planned_on: date,
        now: datetime,
    ) -> RunRecord:
        """The run of the new run's origin: the one that is known already, or else this one.

        `make_run` gets the next free number for a run id. It is called without a lock, and again
        when another run took that number meanwhile. A run that would publish what another one
        still may is refused: `PartitionsHeld`.
        """
        for _ in range(_REGISTER_ATTEMPTS):
            new = make_run(self.next_number(table, transform_version, planned_on))
            registered = self._insert_if_absent(new, now)
            if registered is not None:
                return registered
        raise LostRace(f"{new.run_id}: others register runs of {table} all the time; try again.")

    def _insert_if_absent(self, new: NewRun, now: datetime) -> RunRecord | None:
        try:
            with self._write(now) as connection:
                _holding.wait_for_table(connection, new.table)
                known = _runs.find_run_by_origin(connection, new.origin)
                if known is not None or _runs.is_taken(connection, new.run_id):
                    return known
                _holding.hold_for_new_run(connection, new, now)
                return _runs.insert_run(connection, new, now)
        except IntegrityError:  # where writers are not alone: origin or number went meanwhile
            return self.run_by_origin(new.origin)

    def next_number(self, table: str, transform_version: str, planned_on: date) -> int:
        with self._read() as connection:
            return _runs.next_number(connection, table, transform_version, planned_on)

    def run(self, run_id: RunId) -> RunRecord:
        with self._read() as connection:
            return _runs.find_run(connection, run_id)

    def run_by_origin(self, origin: str) -> RunRecord | None:
        with self._read() as connection:
            return _runs.find_run_by_origin(connection, origin)

    def runs(
        self,
        table: str | None = None,
        *,
        states: Collection[RunState] | None = None,
        kind: RunKind | None = None,
        group: GroupId | None = None,
        limit: int = 100,
    ) -> tuple[RunRecord, ...]:
        """The newest first."""
        with self._read() as connection:
            return _runs.list_runs(
                connection, table=table, states=states, kind=kind, group=group, limit=limit
            )

    def runs_in_flight(self, table: str, now: datetime) -> tuple[RunInFlight, ...]:
        """Those that hold partitions of the table, the oldest first."""
        return self.all_in_flight((table,), now)[table]

    def all_in_flight(
        self, tables: Collection[str], now: datetime
    ) -> dict[str, tuple[RunInFlight, ...]]:
        """Of each of these tables, with one question for all of them."""
        with self._read() as connection:
            return _holding.read_in_flight(connection, tables, now)

    def runs_at(
        self,
        states: Collection[RunState],
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        launched_as: str = "",
        limit: int,
    ) -> tuple[RunRecord, ...]:
        """Of those that came to stand there after `since` and not after `until`, and whose origin
        begins with `launched_as`; the oldest first."""
        with self._read() as connection:
            return _watching.read_runs_at(
                connection, states, since=since, until=until, launched_as=launched_as, limit=limit
            )

    def overdue_runs(self, now: datetime, *, limit: int) -> tuple[RunRecord, ...]:
        """That nobody began while their plan was valid."""
        with self._read() as connection:
            return _watching.read_overdue(connection, require_aware(now), limit=limit)

    def publishable_runs(self, *, limit: int) -> tuple[RunRecord, ...]:
        """Judged and meant to be published; whether they may be is not asked here."""
        with self._read() as connection:
            return _watching.read_publishable(connection, limit=limit)

    def abandoned_runs(self, now: datetime, *, limit: int) -> tuple[RunId, ...]:
        """That somebody was at work on: a lease has ended, or an outcome is not known."""
        with self._read() as connection:
            return _watching.read_abandoned(connection, require_aware(now), limit=limit)

    def landed_since(
        self, after: LandedPosition, *, until: datetime, limit: int
    ) -> tuple[PublicationRecord, ...]:
        """In the order in which their facts were recorded."""
        with self._read() as connection:
            return _watching.read_landed(connection, after, until=until, limit=limit)

    def replaced_runs(self, table: str, run_id: RunId | None = None) -> dict[RunId, RunId]:
        """Published runs that lost every partition, and who took the last one from them."""
        with self._read() as connection:
            return _accepted.read_replaced_runs(connection, table, run_id)

    def events(self, run_id: RunId) -> tuple[RunEvent, ...]:
        with self._read() as connection:
            return _events.read_events(connection, run_id)

    def verify_events(self, run_id: RunId) -> int | None:
        """The number of the first event that cannot be trusted; nothing when all can."""
        with self._read() as connection:
            record = _runs.find_run(connection, run_id)
            return _events.first_broken_event(record, _events.read_events(connection, run_id))

    def verify_run(self, run_id: RunId) -> tuple[str, ...]:
        """Every trace of tampering with the run, its events or its approvals, as sentences."""
        with self._read() as connection:
            return _verification.find_problems(connection, run_id)

    def record_approval(self, approval: Approval, *, now: datetime) -> Recorded | AlreadyRecorded:
        """A rejection ends the run in the same transaction."""
        with self._write(now) as connection:
            return _approvals.record_approval(connection, approval, now)

    def approvals(self, run_id: RunId) -> tuple[Approval, ...]:
        """The oldest decision first."""
        with self._read() as connection:
            return tuple(_approvals.read_approvals(connection, run_id).values())

    def record_comparison(self, comparison: Comparison, *, now: datetime) -> bool:
        """As an event of the run; not of one that is being published, or is past it."""
        with self._write(now) as connection:
            return _comparisons.record_comparison(connection, comparison, now)

    def move(
        self,
        run_id: RunId,
        from_state: RunState,
        to_state: RunState,
        *,
        actor: str,
        cause: str,
        details: Mapping[str, Any],
        now: datetime,
        superseded_by: RunId | None = None,
    ) -> Moved | LostRaceValue:
        """A failed run that is taken up again needs its partitions: `PartitionsHeld`."""
        _runs.refuse_illegal_move(run_id, from_state, to_state)
        with self._write(now) as connection:
            if from_state is RunState.FAILED and to_state is RunState.STAGING:
                _holding.hold_again(connection, run_id, actor=actor, now=now)
            return _runs.move_run(
                connection,
                run_id,
                from_state,
                to_state,
                actor=actor,
                cause=cause,
                details=details,
                now=now,
                superseded_by=superseded_by,
            )

    def claim_chunk(
        self,
        run_id: RunId,
        days: DayRange,
        *,
        worker: str,
        lease_seconds: int,
        now: datetime,
        max_partitions_at_once: int | None = None,
    ) -> ClaimOutcome:
        with self._write(now) as connection:
            return _chunks.claim_chunk(
                connection,
                run_id,
                days,
                worker=worker,
                lease_seconds=lease_seconds,
                max_partitions_at_once=max_partitions_at_once,
                now=now,
            )

    def renew_lease(
        self,
        run_id: RunId,
        chunk_id: str,
        fencing_token: int,
        *,
        lease_seconds: int,
        now: datetime,
    ) -> ChunkRecord:
        with self._write(now) as connection:
            return _chunks.renew_lease(
                connection, run_id, chunk_id, fencing_token, lease_seconds=lease_seconds, now=now
            )

    def finish_chunk_staging(
        self,
        run_id: RunId,
        chunk_id: str,
        fencing_token: int,
        *,
        counts: ChunkCounts,
        measurements: Iterable[PartitionMeasurement],
        now: datetime,
    ) -> ChunkRecord:
        with self._write(now) as connection:
            return _judgements.finish_staging(
                connection, run_id, chunk_id, fencing_token, counts, tuple(measurements), now
            )

    def fail_chunk(
        self, run_id: RunId, chunk_id: str, fencing_token: int, *, error: str, now: datetime
    ) -> ChunkRecord:
        with self._write(now) as connection:
            return _chunks.fail_chunk(
                connection, run_id, chunk_id, fencing_token, error=error, now=now
            )

    def record_verdicts(
        self,
        run_id: RunId,
        days: DayRange,
        verdicts: Iterable[Verdict],
        *,
        now: datetime,
        fencing_token: int | None = None,
    ) -> ChunkRecord:
        """The chunk is VALIDATED when none is a refusal, else FAILED.

        Whoever hands the token of the claim whose data it judged is refused when the chunk has
        been staged again since; without a token the verdicts are taken to speak of the newest.
        """
        with self._write(now) as connection:
            return _judgements.record_verdicts(
                connection, run_id, build_chunk_id(days), fencing_token, tuple(verdicts), now
            )

    def mark_chunk_published(self, run_id: RunId, days: DayRange, *, now: datetime) -> ChunkRecord:
        with self._write(now) as connection:
            return _chunks.mark_published(connection, run_id, build_chunk_id(days))

    def chunks(self, run_id: RunId) -> tuple[ChunkRecord, ...]:
        with self._read() as connection:
            return _chunks.read_chunks(connection, run_id)

    def covered_days(self, run_id: RunId, statuses: Collection[ChunkStatus]) -> frozenset[date]:
        with self._read() as connection:
            return _chunks.covered_days(connection, run_id, statuses)

    def past_chunks(self, table: str, *, limit: int = 50) -> tuple[PastChunk, ...]:
        """What was finished, the newest first."""
        with self._read() as connection:
            return _pace.read_past_chunks(connection, table, limit)

    def commit_times(self, run_id: RunId, since: datetime) -> tuple[datetime, ...]:
        with self._read() as connection:
            return _pace.read_commit_times(connection, run_id, require_aware(since))

    def measurements(
        self, run_id: RunId, days: Iterable[date] | None = None
    ) -> tuple[PartitionMeasurement, ...]:
        with self._read() as connection:
            return _judgements.read_measurements(connection, run_id, days)

    def verdicts(
        self,
        run_id: RunId,
        days: Iterable[date] | None = None,
        gates: Collection[Gate] | None = None,
    ) -> tuple[Verdict, ...]:
        with self._read() as connection:
            return _judgements.read_verdicts(connection, run_id, days, gates)

    def outcomes(self, run_id: RunId, days: Iterable[date]) -> dict[tuple[date, Gate], Outcome]:
        """The verdicts, where nobody asks what they rest on."""
        with self._read() as connection:
            return _judgements.read_outcomes(connection, run_id, days)

    def judgements(
        self, table: str, days: Iterable[date], gates: Collection[Gate]
    ) -> tuple[Judgement, ...]:
        """How every run of the table was judged there; the newest first."""
        with self._read() as connection:
            return _verdict_history.read_judgements(connection, table, days, gates)

    def judging_runs(self, table: str, days: Iterable[date]) -> dict[date, RunId]:
        """By day: whose verdicts are the newest."""
        with self._read() as connection:
            return _verdict_history.read_judging_runs(connection, table, days)

    def measured_days(
        self, run_ids: Collection[RunId], days: Iterable[date]
    ) -> tuple[MeasuredDay, ...]:
        with self._read() as connection:
            return _verdict_history.read_measured_days(connection, run_ids, days)

    def measuring_runs(self, table: str, days: Iterable[date]) -> dict[RunId, set[date]]:
        """Those that were published, in the order of their plans, and what each has measured."""
        with self._read() as connection:
            return _verdict_history.read_measuring_runs(connection, table, days)

    def newest_accepted(self, table: str) -> AcceptedPartition | None:
        """Of the last day that consumers see."""
        return self.all_newest_accepted((table,)).get(table)

    def all_newest_accepted(self, tables: Iterable[str]) -> dict[str, AcceptedPartition]:
        """By table, where consumers see any day."""
        with self._read() as connection:
            found = {table: _accepted.read_newest(connection, table) for table in tables}
        return {table: newest for table, newest in found.items() if newest is not None}

    def held_chunks(self, run_id: RunId) -> tuple[HeldChunk, ...]:
        """What somebody has to look at before it is published, reviewed or not."""
        with self._read() as connection:
            return _reviews.read_held(connection, run_id)

    def record_review(self, review: Review, *, now: datetime) -> Review:
        """A rejection ends the run in the same transaction. What the same principal has said
        before about exactly the same is that; nothing is written then."""
        with self._write(now) as connection:
            return _reviews.record_review(connection, review, now)

    def reviews(self, run_id: RunId) -> tuple[Review, ...]:
        """The oldest first."""
        with self._read() as connection:
            return _reviews.read_reviews(connection, run_id)

    def acquire_fence(
        self,
        run_id: RunId,
        table: str,
        days: PartitionSet,
        *,
        gives_way: bool,
        lease_seconds: int,
        now: datetime,
    ) -> Fence:
        """Whoever gives way is refused while another run's fence is open: `PartitionsFenced`."""
        with self._write(now) as connection:
            return _fences.acquire_fence(
                connection,
                run_id,
                table,
                days,
                gives_way=gives_way,
                lease_seconds=lease_seconds,
                now=now,
            )

    def refuse_stale(self, fence: Fence, *, now: datetime) -> None:
        """Raises `PartitionsFenced` when nothing may be committed under this fence any more."""
        with self._read() as connection:
            _fences.refuse_stale(connection, fence, require_aware(now))

    def renew_fence(self, fence: Fence, *, lease_seconds: int, now: datetime) -> None:
        with self._write(now) as connection:
            _fences.renew_fence(connection, fence, lease_seconds=lease_seconds, now=now)

    def release_fence(
        self, fence: Fence, *, now: datetime, frozen_until: datetime | None = None
    ) -> None:
        with self._write(now) as connection:
            _fences.release_fence(connection, fence, frozen_until=frozen_until, now=now)

    def open_fences(self, table: str, now: datetime) -> tuple[Fence, ...]:
        """The oldest first."""
        with self._read() as connection:
            return _fences.read_open_fences(connection, table, require_aware(now))

    def record_intent(self, intent: PublicationIntent, *, now: datetime) -> PublicationRecord:
        with self._write(now) as connection:
            return _publications.write_intent(connection, intent, now)

    def record_fact(
        self,
        publication_id: str,
        *,
        version: int,
        accepted: Iterable[AcceptedRows],
        now: datetime,
    ) -> PublicationRecord:
        with self._write(now) as connection:
            return _publications.write_fact(
                connection, publication_id, version, tuple(accepted), now
            )

    def give_up_intent(self, publication_id: str, *, now: datetime) -> PublicationRecord:
        """For recovery: the target's log does not hold it, and nobody will commit it any more."""
        with self._write(now) as connection:
            return _publications.give_up_intent(connection, publication_id, now)

    def publications(self, run_id: RunId) -> tuple[PublicationRecord, ...]:
        """All that were ever intended, the oldest first."""
        with self._read() as connection:
            return _publications.read_publications(connection, run_id)

    def open_intents(self, run_id: RunId | None = None) -> tuple[PublicationRecord, ...]:
        """Those whose outcome only the target's log knows, the oldest first."""
        with self._read() as connection:
            return _publications.read_open_intents(connection, run_id)

    def intend_delivery(
        self, run_id: RunId, intended: Delivery, *, now: datetime
    ) -> DeliveryRecord:
        """As it was intended first, whoever asks again."""
        with self._write(now) as connection:
            return _deliveries.intend_delivery(connection, run_id, intended, now)

    def record_told(self, delivery_id: str, told: Delivered, *, now: datetime) -> None:
        with self._write(now) as connection:
            _deliveries.record_told(connection, delivery_id, told, now)

    def deliveries(self, run_id: RunId) -> tuple[DeliveryRecord, ...]:
        with self._read() as connection:
            return _deliveries.read_deliveries(connection, run_id)

    def retirement_mark(self, table: str) -> _retirements.Mark:
        """How far whoever looks at a table now has seen; taken before looking at anything else."""
        with self._read() as connection:
            return _retirements.read_mark(connection, table)

    def intend_retirement(
        self, intent: RetirementIntent, *, mark: _retirements.Mark, now: datetime
    ) -> RetirementRecord:
        """Also ends the runs that it names. `LostRace` when more has happened than `mark` saw."""
        with self._write(now) as connection:
            return _retirements.write_intent(connection, intent, mark, now)

    @contextmanager
    def nobody_plans(self, table: str, *, mark: _retirements.Mark, now: datetime) -> Iterator[None]:
        """Short: all who write wait. `LostRace` when more has happened than `mark` saw."""
        with self._write(now) as connection, _retirements.unmoved(connection, table, mark):
            yield

    def finish_retirement(
        self, retirement_id: str, *, spared: tuple[str, ...], now: datetime
    ) -> RetirementRecord:
        with self._write(now) as connection:
            return _retirements.write_fact(connection, retirement_id, spared, now)

    def retirements(self, table: str) -> tuple[RetirementRecord, ...]:
        """The oldest first; those that are not finished included."""
        with self._read() as connection:
            return _retirements.read_retirements(connection, table)

    def table_history(self, table: str) -> dict[date, tuple[AcceptedPartition, ...]]:
        """Of every day that a run has ever published; the oldest version of the target first."""
        with self._read() as connection:
            return _reach.read_table_history(connection, table)

    def fates(self, table: str) -> dict[RunId, Fate]:
        """What became of the partitions of each run that changed any."""
        with self._read() as connection:
            return _reach.read_fates(connection, table)

    def fate(self, table: str, run_id: RunId) -> Fate:
        with self._read() as connection:
            return _reach.read_fates(connection, table, run_id).get(run_id, NO_FATE)

    def accepted(self, table: str, days: Iterable[date]) -> dict[date, AcceptedPartition]:
        with self._read() as connection:
            return _accepted.read_accepted(connection, table, days)

    def accepted_history(self, table: str, day: date) -> tuple[AcceptedPartition, ...]:
        """The oldest version of the target first; the last one is what consumers see."""
        return self.accepted_histories(table, (day,)).get(day, ())

    def accepted_histories(
        self, table: str, days: Iterable[date]
    ) -> dict[date, tuple[AcceptedPartition, ...]]:
        """Of those days that a run has ever published, in the order of days."""
        with self._read() as connection:
            return _accepted.read_histories(connection, table, days)

    def accepted_days(self, table: str) -> dict[date, AcceptedDay]:
        """Of every day that consumers see."""
        with self._read() as connection:
            return _repairs.read_accepted_days(connection, table)

    def ended_runs(
        self, tables: Collection[str], states: Collection[RunState], *, limit: int
    ) -> dict[str, tuple[EndedRun, ...]]:
        """By table, of each state the newest first: those that would have published, without
        unattended repairs."""
        with self._read() as connection:
            return _repairs.read_ended(connection, tables, states, limit)

    def changes_since(self, since: datetime) -> dict[str, LastChange]:
        """By table whose accepted partitions changed since; no other has changed."""
        with self._read() as connection:
            return _repairs.read_changes(connection, require_aware(since))

    def landed_versions(self, table: str, *, at_least: int) -> frozenset[int]:
        with self._read() as connection:
            return _repairs.read_landed_versions(connection, table, at_least)

    def is_intended(self, publication_id: str) -> bool:
        with self._read() as connection:
            return _repairs.is_intended(connection, publication_id)

    def repairs_tried(self, gap_keys: Iterable[str]) -> dict[str, tuple[RepairRun, ...]]:
        """Unattended repairs by gap, the first attempt first."""
        with self._read() as connection:
            return _repairs.read_tried(connection, tuple(gap_keys))

    def repairs_since(self, tables: Collection[str], since: datetime) -> tuple[RunRecord, ...]:
        """Unattended repairs that were planned since, the oldest first."""
        with self._read() as connection:
            return _repairs.read_planned_since(connection, tables, require_aware(since))

    def lasting_gaps(self, tables: Collection[str]) -> dict[str, NotedGap]:
        """By key, as they were noted last."""
        with self._read() as connection:
            return _findings.read_lasting(connection, tables)

    def note_gaps(
        self, seen: Iterable[Gap], *, tables: Collection[str], now: datetime
    ) -> NotedChanges:
        """All that was found in these tables now; what else lasted there is resolved."""
        with self._write(now) as connection:
            return _findings.note_gaps(connection, tuple(seen), tables, now)

    def report_gaps(self, reports: Iterable[GapReport], *, now: datetime) -> tuple[str, ...]:
        """The keys of those that say something new; whoever says it second hears nothing."""
        with self._write(now) as connection:
            return _findings.record_reports(connection, tuple(reports), now)
