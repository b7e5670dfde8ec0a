"""Drives one ledger through any order of claims, crashes, retries, verdicts and publications.

A crash is a worker that does nothing more: its lease ends, or its fact is recorded late. After
every step no two chunks share a day, no partition has two accepted runs, and every chain holds.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from itertools import combinations
from pathlib import Path

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

from backfill_platform.domain.chunks import (
    ChunkBusy,
    ChunkDone,
    ChunkRecord,
    ClaimedChunk,
    build_chunk_id,
)
from backfill_platform.domain.errors import LostRace
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.runs import PublicationFact, PublicationIntent
from backfill_platform.domain.verdicts import Outcome
from backfill_platform.ledger.migrate import migrate
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger import samples

CALENDAR = samples.january(1, 6)
LEFT = {ChunkStatus.FAILED, ChunkStatus.REPLACED}  # their days may be given to others

places = st.integers(0, len(CALENDAR) - 1)


class LedgerMachine(RuleBasedStateMachine):
    claims = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="ledger-"))
        shutil.copy(_template(), self.folder / "ledger.db")
        self.ledger = Ledger.open(f"sqlite:///{self.folder}/ledger.db")
        self.now: datetime = samples.NOW
        self.runs: list[RunId] = []
        self.newest_token: dict[RunId, int] = {}
        self.committed: dict[str, tuple[int, PublicationIntent]] = {}  # as the target's log has it
        self.expected: dict[date, tuple[int, RunId]] = {}  # by day: version and run

    def teardown(self) -> None:
        self.ledger.close()
        shutil.rmtree(self.folder)

    @initialize(target=claims)
    def plan_two_runs(self) -> object:
        self.runs = [samples.register(self.ledger, origin).run_id for origin in ("a", "b")]
        self.newest_token = dict.fromkeys(self.runs, 1)
        return multiple(
            *(
                (run_id, samples.claimed(self.ledger, run_id, samples.january(2, 4)))
                for run_id in self.runs
            )
        )

    @rule(seconds=st.integers(1, samples.LEASE_SECONDS))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(
        target=claims,
        number=st.integers(0, 1),
        ends=st.tuples(places, places),
        worker=st.sampled_from(["w1", "w2"]),
    )
    def claim(self, number: int, ends: tuple[int, int], worker: str) -> object:
        run_id = self.runs[number]
        days = DayRange.closed(*(CALENDAR.start + timedelta(days=place) for place in sorted(ends)))
        before = self.ledger.chunks(run_id)
        outcome = samples.claim(self.ledger, run_id, days, worker, self.now)
        match outcome:
            case ClaimedChunk():
                assert outcome.fencing_token > self.newest_token[run_id]
                self.newest_token[run_id] = outcome.fencing_token
                return (run_id, outcome)
            case ChunkBusy(holder=holder):
                assert holder.days.overlaps(days)
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
        self.ledger.record_intent(wanted, now=self.now)
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
    def the_chains_hold(self) -> None:
        assert all(self.ledger.verify_events(run_id) is None for run_id in self.runs)

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


_made: list[Path] = []


def _template() -> Path:
    """Migrated once; every example gets a copy."""
    if not _made:
        path = Path(tempfile.mkdtemp(prefix="ledger-template-")) / "ledger.db"
        migrate(f"sqlite:///{path}")
        _made.append(path)
    return _made[0]


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = settings(
    max_examples=12,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
