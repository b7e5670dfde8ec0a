"""No crash, no rollback and no second call in between harms what somebody needs. No JVM."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.errors import (
    LostRace,
    PlanRefused,
)
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.retire.retiring import Retired
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.lakehouse.removal import remove_files
from backfill_platform_tests.engine.retire.lake import (
    files,
    folder,
    kinds,
    later,
    retired,
    rows,
    target,
    undo,
)
from backfill_platform_tests.readings import BRONZE


def test_a_rollback_after_it_is_refused_and_names_the_retirement(
    lake: Platform, replaced: tuple[Manifest, Manifest]
) -> None:
    retired(later(lake, days=31))
    with pytest.raises(PlanRefused, match=rf"were retired \({BRONZE}/retirement-1 of .* by ana"):
        plan_rollback(later(lake, days=31), undo(replaced[1]))


class Interrupted:
    """A ledger that lets something happen right after, or right before, one of its calls."""

    def __init__(self, ledger: Any, method: str, happens: Callable[[], None], *, before: bool):
        self._ledger, self._method, self._happens = ledger, method, happens
        self._before = before

    def __getattr__(self, name: str) -> Any:
        wanted = getattr(self._ledger, name)
        if name != self._method:
            return wanted

        def call(*given: Any, **named: Any) -> Any:
            if self._before:
                self._happens()
            result = wanted(*given, **named)
            if not self._before:
                self._happens()
            return result

        return call


def meanwhile(
    platform: Platform, method: str, happens: Callable[[], None], *, before: bool = False
) -> Platform:
    ledger: Any = Interrupted(platform.ledger, method, happens, before=before)
    return replace(platform, ledger=ledger)


@pytest.mark.parametrize(
    ("method", "before"), [("intend_retirement", False), ("nobody_plans", True)]
)
def test_a_rollback_planned_in_between_keeps_its_files(
    lake: Platform, replaced: tuple[Manifest, Manifest], method: str, *, before: bool
) -> None:
    at, planned = later(lake, days=31), []

    def plan_it() -> None:
        if not planned:
            planned.append(plan_rollback(at, undo(replaced[1])).run_id)

    retired(meanwhile(at, method, plan_it, before=before))
    roll_back(at, planned[0])
    assert {meter for _, meter in rows(lake)} == {"a", "b"}


@pytest.mark.parametrize(
    ("method", "before"), [("intend_retirement", False), ("nobody_plans", True)]
)
def test_a_file_that_returned_meanwhile_is_spared(
    lake: Platform, replaced: tuple[Manifest, Manifest], method: str, *, before: bool
) -> None:
    """Somebody who knows nothing of runs restores the table."""
    returned: list[int] = []

    def restore() -> None:
        if not returned:
            DeltaTable(target(lake)).restore(1)
            returned.append(DeltaTable(target(lake)).version())

    one = retired(meanwhile(later(lake, days=31), method, restore, before=before))
    assert {meter for _, meter in rows(lake)} == {"a", "b"}
    assert set(one.done[0].spared) == one.done[0].intent.paths


def die(*_: Any) -> None:
    raise ConnectionError("killed")


def test_a_rollback_waits_while_its_files_may_be_going(
    lake: Platform, replaced: tuple[Manifest, Manifest]
) -> None:
    at = later(lake, days=31)
    with suppress(ConnectionError):
        retired(at, remove=die)
    rollback = plan_rollback(at, undo(replaced[1]))
    before = rows(lake)
    with pytest.raises(LostRace, match="retirement-1 may just be removing files"):
        roll_back(at, rollback.run_id)
    assert rows(lake) == before


def test_it_goes_on_once_the_retirement_has_finished(
    lake: Platform, replaced: tuple[Manifest, Manifest]
) -> None:
    at = later(lake, days=31)
    with suppress(ConnectionError):
        retired(at, remove=die)
    rollback = plan_rollback(at, undo(replaced[1]))
    retired(at)
    roll_back(at, rollback.run_id)
    assert {meter for _, meter in rows(lake)} == {"a", "b"}


def test_two_that_retire_at_once_record_it_once(lake: Platform, cancelled: Manifest) -> None:
    at, together = later(lake, days=8), Barrier(2)

    def one() -> Retired:
        together.wait()
        return retired(at)

    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(one) for _ in range(2)]
    assert [future.result().problem for future in done] == ["", ""]
    assert len(lake.ledger.retirements(BRONZE)) == 1
    assert kinds(lake, cancelled).count("retirement") == 1


def die_half_way(path: Path, going: Iterable[str]) -> None:
    named = [*going]
    remove_files(path, named[: len(named) // 2])
    die()


def die_at_the_end(path: Path, going: Iterable[str]) -> None:
    remove_files(path, going)
    die()


def losing(method: str, *, before: bool) -> Callable[[Platform], Retired]:
    return lambda platform: retired(meanwhile(platform, method, die, before=before))


CRASHES: dict[str, Callable[[Platform], Retired]] = {
    "before the intention": losing("intend_retirement", before=True),
    "after the intention": losing("intend_retirement", before=False),
    "before the first file": lambda platform: retired(platform, remove=die),
    "half way": lambda platform: retired(platform, remove=die_half_way),
    "after the last file": lambda platform: retired(platform, remove=die_at_the_end),
    "before the fact": losing("finish_retirement", before=True),
    "after the fact": losing("finish_retirement", before=False),
}


@pytest.mark.parametrize("crash", CRASHES.values(), ids=CRASHES.keys())
def test_a_retirement_that_died_anywhere_is_finished_by_the_next(
    lake: Platform,
    replaced: tuple[Manifest, Manifest],
    cancelled: Manifest,
    crash: Callable[[Platform], Retired],
) -> None:
    first, second = replaced
    at, seen, kept = later(lake, days=31), rows(lake), files(folder(lake, second))
    with pytest.raises(ConnectionError):
        crash(at)
    assert rows(lake) == seen
    retired(at)
    assert (rows(lake), files(folder(lake, second))) == (seen, kept)
    assert sorted(one.name for one in (target(lake) / "runs").iterdir()) == [second.run_id]
    (record,) = lake.ledger.retirements(BRONZE)
    assert (record.finished_at is not None, record.spared) == (True, ())
    assert [kinds(lake, run).count("retirement") for run in (first, cancelled)] == [1, 1]
