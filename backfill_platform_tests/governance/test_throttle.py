"""A simulated run that waits as it is told stays below every limit, whatever its chunks read."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.limits import NO_LIMITS, DailyWindow, Limits
from backfill_platform.governance.throttle import ChunkTaken, Pace

NOON = datetime(2026, 7, 4, 12, tzinfo=UTC)
NIGHT = DailyWindow(start="22:00", end="06:00")


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def chunk(start: float, end: float | None, *, rows: int = 0, size: int = 0) -> ChunkTaken:
    """In seconds from noon."""
    return ChunkTaken(
        rows=rows,
        bytes=size,
        started_at=NOON + seconds(start),
        finished_at=None if end is None else NOON + seconds(end),
    )


def pace(*chunks: ChunkTaken, **limits) -> Pace:
    return Pace(limits=Limits(**limits), chunks=chunks)


def test_nothing_waits_without_limits():
    free = Pace(limits=NO_LIMITS, chunks=(chunk(0, 1, rows=10**9),), commits=(NOON,) * 1000)
    now = NOON + seconds(1)
    assert free.seconds_until_next_chunk(now) == 0
    assert free.seconds_until_finished(now) == 0
    assert free.seconds_until_commit(now) == 0


def test_a_fast_chunk_is_held_until_its_rows_are_allowed():
    fast = pace(chunk(0, None, rows=300), max_rows_per_minute=100)
    assert fast.seconds_until_finished(NOON + seconds(30)) == 150


def test_a_slow_chunk_is_not_held():
    slow = pace(chunk(0, None, rows=300), max_rows_per_minute=100)
    assert slow.seconds_until_finished(NOON + seconds(180)) == 0


def test_the_stricter_of_rows_and_bytes_holds_a_chunk():
    both = pace(chunk(0, None, rows=60, size=600), max_rows_per_minute=60, max_bytes_per_minute=60)
    assert both.seconds_until_finished(NOON) == 600


def test_chunks_at_the_same_time_share_what_is_allowed():
    two = pace(chunk(0, None, rows=100), chunk(1, None, rows=100), max_rows_per_minute=100)
    assert two.seconds_until_finished(NOON + seconds(60)) == 60


def test_a_long_break_earns_no_faster_chunks_afterwards():
    night = pace(chunk(0, 60, rows=100), chunk(40_000, None, rows=100), max_rows_per_minute=100)
    assert night.seconds_until_finished(NOON + seconds(40_010)) == 50


def test_the_next_chunk_waits_for_what_a_dead_one_has_read():
    dead = pace(chunk(0, 1, rows=100), max_rows_per_minute=100)
    assert dead.seconds_until_next_chunk(NOON + seconds(20)) == 40


def test_the_next_chunk_waits_for_the_pause_after_the_last():
    paused = pace(chunk(0, 50), chunk(50, 60), pause_seconds=30)
    assert paused.seconds_until_next_chunk(NOON + seconds(70)) == 20


def test_the_first_chunk_waits_for_no_pause():
    assert pace(pause_seconds=30).seconds_until_next_chunk(NOON) == 0


@pytest.mark.parametrize(
    ("hour", "wait_hours"), [(21, 1), (22, 0), (23, 0), (0, 0), (5, 0), (6, 16), (12, 10)]
)
def test_a_chunk_waits_until_the_off_peak_window_opens(hour, wait_hours):
    now = NOON.replace(hour=hour)
    assert pace(off_peak=NIGHT).seconds_until_next_chunk(now) == wait_hours * 3600


def test_a_pause_that_ends_after_the_window_waits_for_the_next_one():
    early = NOON.replace(hour=5, minute=59)
    done = ChunkTaken(rows=0, bytes=0, started_at=early, finished_at=early)
    waiting = pace(done, pause_seconds=120, off_peak=NIGHT)
    assert waiting.seconds_until_next_chunk(early) == timedelta(hours=16, minutes=1).total_seconds()


def test_a_commit_waits_until_the_first_of_a_full_hour_is_over():
    commits = tuple(NOON + timedelta(minutes=minute) for minute in (0, 10, 20))
    full = Pace(limits=Limits(max_commits_per_hour=2), commits=commits)
    assert full.seconds_until_commit(NOON + timedelta(minutes=30)) == 40 * 60


def test_a_commit_does_not_wait_while_the_hour_has_room():
    roomy = Pace(limits=Limits(max_commits_per_hour=2), commits=(NOON,))
    assert roomy.seconds_until_commit(NOON) == 0


@pytest.mark.parametrize(
    ("at_work", "partitions", "room"), [(0, 3, True), (5, 3, True), (6, 3, False), (0, 31, True)]
)
def test_a_chunk_begins_beside_others_only_where_there_is_room(at_work, partitions, room):
    eight = pace(max_partitions_at_once=8)
    assert eight.has_room(partitions_at_work=at_work, partitions=partitions) is room


def test_without_a_limit_there_is_always_room():
    assert pace().has_room(partitions_at_work=10_000, partitions=31)


def test_a_run_may_take_exactly_what_it_is_allowed():
    full = pace(chunk(0, 1, rows=10), max_rows=10, max_cost_usd=Decimal(5))
    assert full.exceeded(cost_usd=Decimal(5)) is None


def test_a_run_that_read_too_many_rows_has_to_stop():
    over = pace(chunk(0, 1, rows=600_000), chunk(1, None, rows=600_000), max_rows=1_000_000)
    assert over.exceeded(cost_usd=Decimal(0)) == (
        "it has read 1,200,000 rows and may read 1,000,000; plan a smaller range, or ask for a "
        "higher max_rows"
    )


def test_a_run_that_cost_too_much_has_to_stop():
    assert pace(max_cost_usd=Decimal(5)).exceeded(cost_usd=Decimal("5.01")) == (
        "it has cost 5.01 USD and may cost 5.00; plan a smaller range, or ask for a higher "
        "max_cost_usd"
    )


@dataclass(frozen=True)
class Work:
    rows: int
    size: int
    takes: float  # seconds, as fast as it can
    idle: float  # seconds before somebody asks for it


@dataclass
class Run:
    """Workers that ask, wait exactly as long as they are told, and go on; nobody sleeps."""

    pace: Pace
    now: datetime = NOON
    begun: list[datetime] = field(default_factory=list)

    def compute(self, work: Work) -> None:
        self.now += seconds(work.idle)
        self.now += seconds(self.pace.seconds_until_next_chunk(self.now))
        self.begun.append(self.now)
        started = self.now
        self.now += seconds(work.takes)
        read = ChunkTaken(rows=work.rows, bytes=work.size, started_at=started)
        before = self.pace.chunks
        self.pace = replace(self.pace, chunks=(*before, read))
        self.now += seconds(self.pace.seconds_until_finished(self.now))
        self.pace = replace(self.pace, chunks=(*before, replace(read, finished_at=self.now)))

    def commit(self) -> None:
        self.now += seconds(self.pace.seconds_until_commit(self.now))
        self.pace = replace(self.pace, commits=(*self.pace.commits, self.now))


works = st.builds(
    Work,
    rows=st.integers(0, 10_000),
    size=st.integers(0, 10_000_000),
    takes=st.floats(0, 500),
    idle=st.one_of(st.just(0.0), st.floats(0, 100_000)),
)

limits = st.builds(
    Limits,
    max_rows_per_minute=st.none() | st.integers(1, 5_000),
    max_bytes_per_minute=st.none() | st.integers(1_000, 5_000_000),
    max_commits_per_hour=st.none() | st.integers(1, 3),
    pause_seconds=st.integers(0, 100),
    off_peak=st.sampled_from([None, NIGHT, DailyWindow(start="03:30", end="03:31")]),
)


def simulate(limited: Limits, all_work: list[Work]) -> Run:
    run = Run(Pace(limits=limited))
    for work in all_work:
        run.compute(work)
        run.commit()
    return run


def keep_to(chunks: Sequence[ChunkTaken], amounts: list[int], allowed: int | None) -> bool:
    """From the beginning of the first to the end of each, in whole numbers."""
    return allowed is None or all(
        sum(amounts[: end + 1]) * 60_000_000 <= allowed * elapsed(chunks[0], chunks[end])
        for end in range(len(chunks))
    )


def elapsed(first: ChunkTaken, last: ChunkTaken) -> int:
    assert last.finished_at is not None
    return (last.finished_at - first.started_at) // timedelta(microseconds=1)


def side_by_side(limited: Limits, all_work: list[Work]) -> list[ChunkTaken]:
    """All begin at once; each is held when it is done, and all that is known then is counted."""
    known: list[ChunkTaken] = []
    for work in sorted(all_work, key=lambda work: work.takes):
        read = ChunkTaken(rows=work.rows, bytes=work.size, started_at=NOON)
        done = NOON + seconds(work.takes)
        held = Pace(limits=limited, chunks=(*known, read)).seconds_until_finished(done)
        known.append(replace(read, finished_at=done + seconds(held)))
    return known


@given(limits, st.lists(works, min_size=1, max_size=8))
def test_measured_throughput_never_exceeds_the_limit(limited, all_work):
    chunks = simulate(limited, all_work).pace.chunks
    assert keep_to(chunks, [one.rows for one in chunks], limited.max_rows_per_minute)
    assert keep_to(chunks, [one.bytes for one in chunks], limited.max_bytes_per_minute)


@given(st.integers(1, 5_000), st.lists(works, min_size=1, max_size=8))
def test_no_later_part_of_a_run_is_faster_either(allowed, all_work):
    chunks = simulate(Limits(max_rows_per_minute=allowed), all_work).pace.chunks
    tails = [chunks[first:] for first in range(len(chunks))]
    assert all(keep_to(tail, [one.rows for one in tail], allowed) for tail in tails)


@given(st.integers(1, 5_000), st.lists(works, min_size=2, max_size=5))
def test_workers_side_by_side_stay_below_the_limit_together(allowed, all_work):
    chunks = side_by_side(Limits(max_rows_per_minute=allowed), all_work)
    assert keep_to(chunks, [one.rows for one in chunks], allowed)


@given(limits, st.lists(works, min_size=1, max_size=8))
def test_no_hour_sees_more_commits_than_allowed(limited, all_work):
    commits = simulate(limited, all_work).pace.commits
    allowed = limited.max_commits_per_hour or len(commits)
    spans = zip(commits, commits[allowed:], strict=False)
    assert all(later - earlier >= timedelta(hours=1) for earlier, later in spans)


@given(limits, st.lists(works, min_size=1, max_size=8))
def test_chunks_begin_in_the_off_peak_window_only(limited, all_work):
    begun = simulate(limited, all_work).begun
    assert limited.off_peak is None or all(limited.off_peak.is_open(at) for at in begun)


@given(limits, st.lists(works, min_size=1, max_size=8))
def test_the_pause_between_chunks_is_kept(limited, all_work):
    run = simulate(limited, all_work)
    ends = [one.finished_at for one in run.pace.chunks if one.finished_at is not None]
    gaps = [begin - end for end, begin in zip(ends, run.begun[1:], strict=False)]
    assert all(gap >= seconds(limited.pause_seconds) for gap in gaps)


@given(limits, st.lists(works, min_size=1, max_size=4), st.floats(0, 100_000))
def test_who_waited_as_long_as_told_waits_no_longer(limited, all_work, later):
    run = simulate(limited, all_work)
    now = run.now + seconds(later)
    ready = now + seconds(run.pace.seconds_until_next_chunk(now))
    assert run.pace.seconds_until_next_chunk(ready) == 0
