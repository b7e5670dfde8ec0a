"""Drives one ledger through any order of plans, decisions, claims, crashes and publications.

A crash is a worker that does nothing more: its lease ends, or its fact is recorded late. After
every step no two chunks share a day, no two runs hold a partition, no partition has two accepted
runs, and nothing looks tampered with. The same machine drives SQLite and PostgreSQL.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import combinations
from typing import ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.chunks import (
    ChunkBusy,
    ChunkDone,
    ChunkRecord,
    ClaimedChunk,
    build_chunk_id,
)
from backfill_platform.domain.errors import (
    ApprovalRefused,
    ChunkRefused,
    LostRace,
    PartitionsHeld,
    RunStopped,
)
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import (
    IN_FLIGHT,
    NOT_BEGUN,
    OPEN_TO_DECISIONS,
    STOPPED,
    TERMINAL_STATES,
    TRANSITIONS,
    ChunkStatus,
    RunState,
)
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.runs import (
    AlreadyRecorded,
    Moved,
    PublicationFact,
    PublicationIntent,
    Recorded,
)
from backfill_platform.domain.verdicts import Outcome
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger import samples
from backfill_platform_tests.ledger.databases import fresh_ledger

CALENDAR = samples.january(1, 6)
LEFT = {ChunkStatus.FAILED, ChunkStatus.REPLACED}  # their days may be given to others

places = st.integers(0, len(CALENDAR) - 1)
ends_of_ranges = st.tuples(places, places)
numbers = st.integers(0, 99)  # of a run, counted round and round


@dataclass(slots=True, kw_only=True)
class Planned:
    """What the ledger ought to say of a run."""

    days: DayRange
    valid_until: datetime
    state: RunState = RunState.PLANNED

    def gives_way(self, now: datetime) -> bool:
        return self.state in NOT_BEGUN and self.valid_until <= now

    def holds(self, days: DayRange, now: datetime) -> bool:
        in_flight = self.state in IN_FLIGHT and not self.gives_way(now)
        return in_flight and self.days.overlaps(days)


class LedgerMachine(RuleBasedStateMachine):
    claims = Bundle("claims")
    backend: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.resources = ExitStack()
        url = self.resources.enter_context(fresh_ledger(self.backend))
        self.ledger = Ledger.open(url)
        self.resources.callback(self.ledger.close)
        self.now: datetime = samples.NOW
        self.planned: dict[RunId, Planned] = {}
        self.decided: set[tuple[RunId, str, Decision]] = set()
        self.newest_token: dict[RunId, int] = {}
        self.committed: dict[str, tuple[int, PublicationIntent]] = {}  # as the target's log has it
        self.expected: dict[date, tuple[int, RunId]] = {}  # by day: version and run

    def teardown(self) -> None:
        self.resources.close()

    @property
    def runs(self) -> list[RunId]:
        return list(self.planned)

    @initialize(target=claims)
    def plan_two_runs(self) -> object:
        """Of days that nobody else wants; what they claim is the calendar's, and so they meet."""
        for number, origin in enumerate(("a", "b"), start=1):
            run_id = samples.register(self.ledger, origin).run_id
            day = DayRange.of_day(date(2020, 1, 1) + timedelta(days=number))
            self.planned[run_id] = Planned(days=day, valid_until=samples.VALID_UNTIL)
        self.newest_token = dict.fromkeys(self.runs, 1)
        return multiple(
            *(
                (run_id, samples.claimed(self.ledger, run_id, samples.january(2, 4)))
                for run_id in self.runs
            )
        )

    @rule(ends=ends_of_ranges, seconds=st.integers(1, 120))
    def plan(self, ends: tuple[int, int], seconds: int) -> None:
        days = _days(ends)
        holders = [run for run in self.planned.values() if run.holds(days, self.now)]
        valid_until = self.now + timedelta(seconds=seconds)
        try:
            registered = samples.register(
                self.ledger,
                f"origin {len(self.planned)}",
                days,
                now=self.now,
                valid_until=valid_until,
            )
        except PartitionsHeld:
            assert holders
            return
        assert not holders
        self._expire(days)
        self.planned[registered.run_id] = Planned(days=days, valid_until=valid_until)
        self.newest_token[registered.run_id] = 0

    @rule(
        number=numbers,
        principal=st.sampled_from(["bo", "cy"]),
        decision=st.sampled_from([*[Decision.APPROVED] * 3, Decision.REJECTED]),
    )
    def decide(self, number: int, principal: str, decision: Decision) -> None:
        run_id = self._run_id(number)
        before = self.ledger.approvals(run_id)
        given = samples.approval(self.ledger.run(run_id), principal, decision=decision)
        is_known = (run_id, principal, decision) in self.decided
        is_open = self.planned[run_id].state in OPEN_TO_DECISIONS
        try:
            outcome = self.ledger.record_approval(given, now=self.now)
        except ApprovalRefused:
            assert not is_open
            assert not is_known
            assert self.ledger.approvals(run_id) == before
            return
        assert isinstance(outcome, AlreadyRecorded if is_known else Recorded)
        assert is_known or is_open
        if not is_known and decision is Decision.REJECTED:
            self.planned[run_id].state = RunState.REJECTED
        self.decided.add((run_id, principal, decision))

    @rule(number=numbers, data=st.data())
    def move(self, number: int, data: st.DataObject) -> None:
        """Any step that is legal; mostly forward, or few runs would get anywhere."""
        run_id = self._run_id(number)
        run = self.planned[run_id]
        following = sorted(TRANSITIONS[run.state])
        if not following:
            return
        forward = [state for state in following if state not in STOPPED] or following
        to_state = data.draw(st.sampled_from([*forward * 3, *following]))
        takes_up_again = (run.state, to_state) == (RunState.FAILED, RunState.STAGING)
        others = [other for other in self.planned.values() if other is not run]
        is_held = any(other.holds(run.days, self.now) for other in others)
        try:
            outcome = self.ledger.move(
                run_id, run.state, to_state, actor="w", cause="c", details={}, now=self.now
            )
        except PartitionsHeld:
            assert takes_up_again
            assert is_held
            return
        assert isinstance(outcome, Moved)
        assert not (takes_up_again and is_held)
        if takes_up_again:
            self._expire(run.days)
        run.state = to_state

    @rule(seconds=st.integers(1, samples.LEASE_SECONDS))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(
        target=claims,
        number=numbers,
        ends=ends_of_ranges,
        worker=st.sampled_from(["w1", "w2"]),
        at_once=st.sampled_from([None, None, 2, 6]),
    )
    def claim(self, number: int, ends: tuple[int, int], worker: str, at_once: int | None) -> object:
        run_id, days = self._run_id(number), _days(ends)
        state = self.planned[run_id].state
        before = self.ledger.chunks(run_id)
        try:
            outcome = samples.claim(self.ledger, run_id, days, worker, self.now, at_once)
        except RunStopped:
            assert state in STOPPED
            return multiple()
        except ChunkRefused:
            assert state in TERMINAL_STATES or (at_once is not None and len(days) > at_once)
            return multiple()
        assert state not in TERMINAL_STATES
        match outcome:
            case ClaimedChunk():
                self._check_limit(run_id, at_once)
                assert outcome.fencing_token > self.newest_token[run_id]
                self.newest_token[run_id] = outcome.fencing_token
                return (run_id, outcome)
            case ChunkBusy(holder=holder):
                assert holder.days.overlaps(days) or at_once is not None
                assert holder.status not in LEFT
            case ChunkDone(chunk=chunk):
                assert chunk.days == days
        assert self.ledger.chunks(run_id) == before
        return multiple()

    @rule(claim=claims)
    def finish_staging(self, claim: tuple[RunId, ClaimedChunk]) -> None:
        with self._allowed(claim, ChunkStatus.CLAIMED, ChunkStatus.STAGED):
            samples.stage(self.ledger, *claim)

    @rule(claim=claims)
    def renew(self, claim: tuple[RunId, ClaimedChunk]) -> None:
        run_id, own = claim
        with self._allowed(claim, ChunkStatus.CLAIMED):
            self.ledger.renew_lease(
                run_id, own.chunk_id, own.fencing_token, lease_seconds=60, now=self.now
            )

    @rule(claim=claims)
    def fail(self, claim: tuple[RunId, ClaimedChunk]) -> None:
        run_id, own = claim
        may_fail = set(ChunkStatus) - {ChunkStatus.PUBLISHED, ChunkStatus.REPLACED}
        if f"{run_id}/{own.chunk_id}" in self.committed:  # what consumers may see does not fail
            may_fail = {ChunkStatus.FAILED}
        with self._allowed(claim, *may_fail):
            self.ledger.fail_chunk(
                run_id, own.chunk_id, own.fencing_token, error="killed", now=self.now
            )

    @rule(claim=claims, outcome=st.sampled_from(Outcome))
    def judge(self, claim: tuple[RunId, ClaimedChunk], outcome: Outcome) -> None:
        run_id, own = claim
        verdicts = samples.judged(own.days, outcome)
        recorded = self.ledger.verdicts(run_id, own.days) == verdicts
        again = set(ChunkStatus) - {ChunkStatus.CLAIMED} if recorded else {ChunkStatus.STAGED}
        with self._allowed(claim, *again):
            self.ledger.record_verdicts(
                run_id, own.days, verdicts, now=self.now, fencing_token=own.fencing_token
            )

    @rule(claim=claims)
    def commit(self, claim: tuple[RunId, ClaimedChunk]) -> None:
        """As the publisher does; until its fact is recorded only the target's log knows of it.

        What is not validated yet is worked on first, or few examples would come this far.
        """
        self.finish_staging(claim)
        self.judge(claim, Outcome.PASSED)
        run_id, own = claim
        if self._chunk(claim).status is not ChunkStatus.VALIDATED:
            return
        wanted = samples.intent(run_id, own.days, f"{run_id}/{own.chunk_id}")
        try:
            self.ledger.record_intent(wanted, now=self.now)
        except RunStopped:
            assert self.planned[run_id].state in STOPPED
            return
        assert self.planned[run_id].state not in STOPPED
        self.committed.setdefault(wanted.publication_id, (len(self.committed) + 1, wanted))

    @precondition(lambda self: self.committed)
    @rule(data=st.data())
    def record_a_fact(self, data: st.DataObject) -> None:
        """At once, late, out of order or again."""
        self._record_fact(data.draw(st.sampled_from(sorted(self.committed))))

    @invariant()
    def no_two_chunks_share_a_day(self) -> None:
        for run_id in self.runs:
            held = [chunk for chunk in self.ledger.chunks(run_id) if chunk.status not in LEFT]
            pairs = combinations(held, 2)
            assert not any(one.days.overlaps(other.days) for one, other in pairs)

    @invariant()
    def the_newest_landed_version_is_accepted(self) -> None:
        accepted = self.ledger.accepted(samples.TABLE, CALENDAR)
        found = {day: (row.target_version, row.run_id) for day, row in accepted.items()}
        assert found == self.expected

    @invariant()
    def no_two_runs_hold_a_partition(self) -> None:
        held = self.ledger.runs_in_flight(samples.TABLE, self.now)
        assert not any(set(one.days) & set(other.days) for one, other in combinations(held, 2))

    @invariant()
    def every_run_stands_where_it_ought_to(self) -> None:
        found = {run.run_id: run.state for run in self.ledger.runs()}
        assert found == {run_id: run.state for run_id, run in self.planned.items()}

    @invariant()
    def nothing_looks_tampered_with(self) -> None:
        assert all(self.ledger.verify_run(run_id) == () for run_id in self.runs)

    def _run_id(self, number: int) -> RunId:
        return self.runs[number % len(self.runs)]

    def _expire(self, days: DayRange) -> None:
        for run in self.planned.values():
            if run.gives_way(self.now) and run.days.overlaps(days):
                run.state = RunState.EXPIRED

    def _check_limit(self, run_id: RunId, at_once: int | None) -> None:
        at_work = [
            len(chunk.days)
            for chunk in self.ledger.chunks(run_id)
            if chunk.status is ChunkStatus.CLAIMED and chunk.lease_expires_at > self.now
        ]
        assert at_once is None or sum(at_work) <= at_once

    def _record_fact(self, publication_id: str) -> None:
        version, wanted = self.committed[publication_id]
        fact = self.ledger.record_fact(
            publication_id,
            version=version,
            accepted=samples.accepted_rows(wanted.days),
            now=self.now,
        )
        assert fact.outcome is PublicationFact.LANDED
        for day in wanted.days:
            landed = (version, wanted.run_id)
            self.expected[day] = max(self.expected.get(day, landed), landed)
        days = DayRange.closed(wanted.days[0], wanted.days[-1])
        if self.ledger.covered_days(wanted.run_id, {ChunkStatus.VALIDATED}) >= set(days):
            self._publish_chunk(wanted.run_id, days)

    def _publish_chunk(self, run_id: RunId, days: DayRange) -> None:
        statuses = {chunk.chunk_id: chunk.status for chunk in self.ledger.chunks(run_id)}
        if statuses[build_chunk_id(days)] is ChunkStatus.VALIDATED:
            self.ledger.mark_chunk_published(run_id, days, now=self.now)

    def _chunk(self, claim: tuple[RunId, ClaimedChunk]) -> ChunkRecord:
        run_id, own = claim
        return next(chunk for chunk in self.ledger.chunks(run_id) if chunk.chunk_id == own.chunk_id)

    @contextmanager
    def _allowed(self, claim: tuple[RunId, ClaimedChunk], *statuses: ChunkStatus) -> Iterator[None]:
        """Only the newest claim may write, and only from these statuses; else nothing changes."""
        before = self._chunk(claim)
        is_newest = before.fencing_token == claim[1].fencing_token
        refused = False
        try:
            yield
        except LostRace:
            refused = True
        assert refused is not (is_newest and before.status in statuses)
        assert not refused or self._chunk(claim) == before


def _days(ends: tuple[int, int]) -> DayRange:
    return DayRange.closed(*(CALENDAR.start + timedelta(days=place) for place in sorted(ends)))


class OnSqlite(LedgerMachine):
    backend = "sqlite"


class OnPostgresql(LedgerMachine):
    backend = "postgresql"


_SETTINGS = settings(
    max_examples=15,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)

TestLedgerOnSqlite = OnSqlite.TestCase
TestLedgerOnSqlite.settings = _SETTINGS
TestLedgerOnPostgresql = OnPostgresql.TestCase
TestLedgerOnPostgresql.settings = _SETTINGS
