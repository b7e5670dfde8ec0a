"""Fences: the newest token over a partition counts until its lease ends, and live gives way."""

from functools import partial

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from backfill_platform.domain.errors import PartitionsFenced
from backfill_platform.domain.fences import Fence
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.ledger.database import make_engine, writing
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import NOW, TABLE, after, january, register
from backfill_platform_tests.racing import run_together

LEASE = 60


@pytest.fixture
def first(ledger: Ledger) -> RunId:
    return register(ledger, "first").run_id


@pytest.fixture
def second(ledger: Ledger) -> RunId:
    return register(ledger, "second").run_id


def acquire(
    ledger: Ledger,
    run_id: RunId,
    days: DayRange,
    *,
    gives_way: bool = False,
    seconds: int = 0,
    table: str = TABLE,
) -> Fence:
    return ledger.acquire_fence(
        run_id,
        table,
        PartitionSet.of_range(days),
        gives_way=gives_way,
        lease_seconds=LEASE,
        now=after(seconds),
    )


def is_stale(ledger: Ledger, fence: Fence, seconds: int = 0) -> bool:
    try:
        ledger.refuse_stale(fence, now=after(seconds))
    except PartitionsFenced:
        return True
    return False


def test_a_token_may_commit_until_its_lease_ends(ledger: Ledger, first: RunId) -> None:
    fence = acquire(ledger, first, january(1, 3))
    assert (is_stale(ledger, fence, LEASE - 1), is_stale(ledger, fence, LEASE)) == (False, True)


def test_an_older_token_may_not_commit(ledger: Ledger, first: RunId, second: RunId) -> None:
    older = acquire(ledger, first, january(1, 3))
    newer = acquire(ledger, second, january(3, 5))
    assert (is_stale(ledger, older), is_stale(ledger, newer)) == (True, False)


def test_an_older_token_stays_stale_when_the_newer_one_was_released(
    ledger: Ledger, first: RunId, second: RunId
) -> None:
    older = acquire(ledger, first, january(1, 3))
    ledger.release_fence(acquire(ledger, second, january(1)), now=NOW)
    with pytest.raises(PartitionsFenced, match=f"{second} has taken token 2 since"):
        ledger.refuse_stale(older, now=NOW)


def test_a_fence_beside_it_does_not_make_a_token_stale(
    ledger: Ledger, first: RunId, second: RunId
) -> None:
    fence = acquire(ledger, first, january(1, 3))
    acquire(ledger, second, january(4, 5))
    assert not is_stale(ledger, fence)


def test_tokens_grow_within_a_table(ledger: Ledger, first: RunId) -> None:
    tokens = [acquire(ledger, first, january(day)).token for day in (1, 2, 1)]
    elsewhere = acquire(ledger, first, january(1), table="gold.other")
    assert (tokens, elsewhere.token) == ([1, 2, 3], 1)


def test_a_released_fence_may_not_commit(ledger: Ledger, first: RunId) -> None:
    fence = acquire(ledger, first, january(1))
    ledger.release_fence(fence, now=after(5))
    ledger.release_fence(fence, now=after(6))
    assert is_stale(ledger, fence, 7)
    assert ledger.open_fences(TABLE, after(7)) == ()


def test_a_renewed_lease_lasts_longer(ledger: Ledger, first: RunId) -> None:
    fence = acquire(ledger, first, january(1))
    ledger.renew_fence(fence, lease_seconds=LEASE, now=after(50))
    assert not is_stale(ledger, fence, 50 + LEASE - 1)


def test_a_lease_that_has_ended_is_not_renewed(ledger: Ledger, first: RunId) -> None:
    fence = acquire(ledger, first, january(1))
    with pytest.raises(PartitionsFenced, match="had ended before"):
        ledger.renew_fence(fence, lease_seconds=LEASE, now=after(LEASE))


def test_whoever_gives_way_is_told_who_holds_what_until_when(
    ledger: Ledger, first: RunId, second: RunId
) -> None:
    acquire(ledger, first, january(1, 3))
    with pytest.raises(PartitionsFenced) as refused:
        acquire(ledger, second, january(2, 9), gives_way=True)
    assert f"2025-01-02..2025-01-03 by {first} until 2026-07-04 09:01:00 UTC" in str(refused.value)


def test_whoever_gives_way_goes_on_beside_a_fence_and_after_it(
    ledger: Ledger, first: RunId, second: RunId
) -> None:
    acquire(ledger, first, january(1, 3))
    beside = acquire(ledger, second, january(4), gives_way=True)
    afterwards = acquire(ledger, second, january(1), gives_way=True, seconds=LEASE)
    assert (beside.token, afterwards.token) == (2, 3)


def test_the_own_fence_of_an_attempt_that_died_is_in_nobodys_way(
    ledger: Ledger, first: RunId
) -> None:
    died = acquire(ledger, first, january(1), gives_way=True)
    again = acquire(ledger, first, january(1), gives_way=True)
    assert (is_stale(ledger, died), is_stale(ledger, again)) == (True, False)


def test_partitions_may_stay_frozen_for_live_writers_after_the_release(
    ledger: Ledger, first: RunId, second: RunId
) -> None:
    fence = acquire(ledger, first, january(1))
    ledger.release_fence(fence, now=NOW, frozen_until=after(600))
    with pytest.raises(PartitionsFenced, match="until 2026-07-04 09:10:00 UTC"):
        acquire(ledger, second, january(1), gives_way=True, seconds=599)
    assert acquire(ledger, second, january(1), seconds=599).token == 2


def test_a_fence_outlives_the_connection(ledger: Ledger, ledger_url: str, first: RunId) -> None:
    fence = acquire(ledger, first, january(1, 3))
    other = Ledger.open(ledger_url)
    found = other.open_fences(TABLE, NOW)
    other.close()
    assert found == (fence,)


def test_processes_that_acquire_together_get_tokens_of_their_own(
    ledger: Ledger, ledger_url: str, first: RunId
) -> None:
    tokens = run_together([partial(acquire_from_afar, ledger_url, first)] * 4)
    assert sorted(tokens) == [1, 2, 3, 4]


def acquire_from_afar(url: str, run_id: RunId) -> int:
    ledger = Ledger.open(url)
    token = acquire(ledger, run_id, january(1)).token
    ledger.close()
    return token


def test_a_fence_is_never_deleted(ledger: Ledger, ledger_url: str, first: RunId) -> None:
    acquire(ledger, first, january(1))
    engine = make_engine(ledger_url)
    with (
        pytest.raises(IntegrityError, match="rows of this table are kept"),
        writing(engine) as open_,
    ):
        open_.execute(sa.text("DELETE FROM fence"))
    engine.dispose()
