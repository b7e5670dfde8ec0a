"""A run that becomes visible at once is seen whole or not at all, whenever its publisher dies, and
recovery makes of it what nobody disturbed would have become."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.errors import EngineUnavailable
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, load_catalog
from backfill_platform.engine.publish import publishing
from backfill_platform.engine.publish.publishing import publish_partitions
from backfill_platform.engine.records import bundle
from backfill_platform.engine.recover.recovering import find_half_done, recover_run
from backfill_platform_tests.engine.by_hand import stage_by_hand
from backfill_platform_tests.engine.losing import losing
from backfill_platform_tests.modes import SWAPPED, WHOLE
from backfill_platform_tests.readings import week

EARLY, LATE = week(days=2), week(date(2025, 1, 4), days=2)
DAYS = PartitionSet((EARLY, LATE))

Die = Callable[[Platform, pytest.MonkeyPatch], Platform]
Plan = Callable[[str], Manifest]


def in_the_ledger(method: str, fails: Callable[..., bool] = lambda *_, **__: True) -> Die:
    return lambda platform, _patched: losing(platform, method, fails)


def in_the_storage(platform: Platform, patched: pytest.MonkeyPatch) -> Platform:
    def unavailable(*_: Any, **__: Any) -> None:
        raise EngineUnavailable("the storage is gone")

    patched.setattr(publishing, "publish", unavailable)
    return platform


def in_the_evidence(platform: Platform, patched: pytest.MonkeyPatch) -> Platform:
    def unavailable(*_: Any, **__: Any) -> None:
        raise ConnectionError("the disk is gone")

    patched.setattr(publishing, "keep_publication", unavailable)
    return platform


def of_late_days(_run_id: str, days: DayRange, **_: Any) -> bool:
    return days == LATE


def to_published(_run_id: str, _state: RunState, following: RunState, **_: Any) -> bool:
    return following is RunState.PUBLISHED


DEATHS = {
    "at its intent": in_the_ledger("record_intent"),
    "at its commit": in_the_storage,
    "at its fact": in_the_ledger("record_fact"),
    "at its first chunk": in_the_ledger("mark_chunk_published"),
    "between two chunks": in_the_ledger("mark_chunk_published", of_late_days),
    "at its last state": in_the_ledger("move", to_published),
    "at those it replaces": in_the_ledger("replaced_runs"),
    "at its evidence": in_the_evidence,
}
dying = pytest.mark.parametrize("die", DEATHS.values(), ids=DEATHS.keys())


@pytest.fixture
def scoped(platform: Platform) -> Platform:
    return replace(platform, catalog=load_catalog("backfill_platform_tests.modes:DECLARATIONS"))


@pytest.fixture(params=[WHOLE, SWAPPED])
def table(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def plan(scoped: Platform, intent: Callable[..., Any], table: str) -> Plan:
    def make(origin: str) -> Manifest:
        return plan_run(scoped, replace(intent(table, DAYS.span, origin), days=DAYS))

    return make


@pytest.fixture
def old(scoped: Platform, plan: Plan) -> Manifest:
    manifest = plan("old")
    stage(scoped, manifest, "a")
    publish_partitions(scoped, manifest.run_id, DAYS)
    return manifest


@pytest.fixture
def new(scoped: Platform, plan: Plan, old: Manifest) -> Manifest:
    manifest = plan("new")
    stage(scoped, manifest, "b", "c")
    return manifest


def stage(platform: Platform, manifest: Manifest, *names: str) -> None:
    stage_by_hand(platform, manifest, dict.fromkeys(DAYS, names), DAYS.ranges)


def kill(platform: Platform, manifest: Manifest, die: Die, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched, suppress(ConnectionError, EngineUnavailable):
        publish_partitions(die(platform, patched), manifest.run_id, DAYS)


def seen_ever(platform: Platform, table: str) -> set[frozenset[tuple[date, str]]]:
    """What readers saw, at every version of the table: days with the run that produced them."""
    path = platform.warehouse.table_path(table)
    versions = range(DeltaTable(path).version() + 1)
    return {frozenset(_shown(DeltaTable(path, version=version))) for version in versions}


def _shown(table: DeltaTable) -> set[tuple[date, str]]:
    rows = table.to_pyarrow_table().to_pylist()
    return {(row["day"], row["produced_by_run_id"]) for row in rows}


def whole(manifest: Manifest) -> frozenset[tuple[date, str]]:
    return frozenset((day, str(manifest.run_id)) for day in DAYS)


def publication_records(platform: Platform, manifest: Manifest) -> list[tuple[str, list[str]]]:
    records = bundle(platform, manifest.run_id).records()
    return [(one.body["days"], one.body["changed"]) for one in records if one.kind == "publication"]


@dying
def test_readers_see_all_of_a_run_or_nothing_whenever_its_publisher_dies(
    scoped: Platform,
    table: str,
    old: Manifest,
    new: Manifest,
    die: Die,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kill(scoped, new, die, monkeypatch)
    publish_partitions(scoped, new.run_id, DAYS)
    assert seen_ever(scoped, table) == {frozenset(), whole(old), whole(new)}


@dying
def test_recovery_and_another_publication_make_of_it_what_nobody_disturbed(
    scoped: Platform,
    table: str,
    new: Manifest,
    die: Die,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kill(scoped, new, die, monkeypatch)
    recover_run(scoped, new.run_id)
    publish_partitions(scoped, new.run_id, DAYS)
    assert scoped.ledger.run(new.run_id).state is RunState.PUBLISHED
    assert {one.status for one in scoped.ledger.chunks(new.run_id)} == {ChunkStatus.PUBLISHED}
    accepted = scoped.ledger.accepted(table, DAYS).values()
    assert {(one.run_id, one.publication_id, one.target_version) for one in accepted} == {
        (new.run_id, f"{new.run_id}/whole-run", 2)
    }
    assert publication_records(scoped, new) == [(str(DAYS), [str(day) for day in DAYS])]
    assert all(one.is_well for one in find_half_done(scoped))


@pytest.mark.parametrize("method", ["mark_chunk_published", "move"])
def test_a_run_that_changes_nothing_is_told_once_and_not_by_the_chunk(
    scoped: Platform, plan: Plan, old: Manifest, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = plan("again")
    stage(scoped, again, "a")
    fails = {"mark_chunk_published": of_late_days, "move": to_published}[method]
    kill(scoped, again, in_the_ledger(method, fails), monkeypatch)
    recover_run(scoped, again.run_id)
    publish_partitions(scoped, again.run_id, DAYS)
    assert publication_records(scoped, again) == [(str(DAYS), [])]
    assert scoped.ledger.run(again.run_id).state is RunState.PUBLISHED
