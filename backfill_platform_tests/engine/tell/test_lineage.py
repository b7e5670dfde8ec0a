"""What lineage is told of runs that are led by hand, and that it is told at least once."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from openlineage.client.event_v2 import RunEvent
from openlineage.client.serde import Serde

from backfill_platform.domain.errors import EngineUnavailable, EventRefused
from backfill_platform.domain.journal import JournalLine
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import ExecutionMode
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.carry_out.progress import begin_staging, fail_run, move_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.tell.lineage import due_events, run_events, tell_lineage
from backfill_platform.ledger.store import Ledger
from backfill_platform.telemetry.lineage_delivery import as_json, make_delivery
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand
from backfill_platform_tests.engine.losing import losing
from backfill_platform_tests.readings import BRONZE, SILVER, week

DAYS = week(days=3)
MIDDLE = DayRange.of_day(DAYS.start.replace(day=2))
METERS = dict.fromkeys(DAYS, ("a", "b"))
S = RunState

Plan = Callable[..., Manifest]


@pytest.fixture
def plan(platform: Platform, intent) -> Plan:
    def make(origin: str, table: str = BRONZE, days: DayRange = DAYS, **said: Any) -> Manifest:
        return plan_run(platform, intent(table, days, origin, **said))

    return make


@pytest.fixture
def done(platform: Platform, plan: Plan) -> Manifest:
    planned = plan("first")
    run_by_hand(platform, planned, METERS)
    return planned


@pytest.fixture
def heard() -> list[RunEvent]:
    return []


def said(events: list[RunEvent]) -> list[tuple[str, str]]:
    return [(event.job.name, document(event)["eventType"]) for event in events]


def document(event: RunEvent) -> Any:
    return json.loads(Serde.to_json(event))


def test_a_run_and_its_chunk_begin_and_complete(
    platform: Platform, done: Manifest, heard: list[RunEvent]
) -> None:
    assert tell_lineage(platform, heard.append) == 4
    assert said(heard) == [
        (f"{BRONZE}.chunk", "START"),
        (BRONZE, "START"),
        (f"{BRONZE}.chunk", "COMPLETE"),
        (BRONZE, "COMPLETE"),
    ]


def test_what_was_told_is_not_told_again(
    platform: Platform, done: Manifest, heard: list[RunEvent]
) -> None:
    tell_lineage(platform, heard.append)
    assert tell_lineage(platform, heard.append) == 0
    assert platform.ledger.lineage_due(limit=10) == ()


def test_what_was_told_and_not_forgotten_is_told_again_as_the_same_run(
    platform: Platform, done: Manifest, heard: list[RunEvent]
) -> None:
    with pytest.raises(ConnectionError):
        tell_lineage(losing(platform, "forget_lineage_due"), heard.append)
    tell_lineage(platform, heard.append)
    assert [as_json(event) for event in heard[:4]] == [as_json(event) for event in heard[4:]]


def test_what_could_not_be_told_is_kept_and_what_was_told_before_is_not(
    platform: Platform, done: Manifest, heard: list[RunEvent]
) -> None:
    with pytest.raises(EngineUnavailable):
        tell_lineage(platform, Failing(heard, after=1))
    tell_lineage(platform, heard.append)
    assert [kind for _, kind in said(heard)] == ["START", "START", "COMPLETE", "COMPLETE"]


def test_only_so_much_is_told_at_once(
    platform: Platform, done: Manifest, heard: list[RunEvent]
) -> None:
    before = len(platform.ledger.lineage_due(limit=100))
    tell_lineage(platform, heard.append, most=3)
    assert len(platform.ledger.lineage_due(limit=100)) == before - 3


def test_an_event_says_what_was_read_what_was_written_and_why(
    platform: Platform, done: Manifest, heard: list[RunEvent]
) -> None:
    tell_lineage(platform, heard.append)
    event = document(heard[-1])
    (read,), (written,) = event["inputs"], event["outputs"]
    assert (read["name"], written["name"]) == ("landing/readings", "warehouse/bronze/readings")
    assert [field["name"] for field in read["facets"]["schema"]["fields"]] == [
        *("day", "meter", "amount")
    ]
    assert written["facets"]["version"]["datasetVersion"] == "1"
    statistics = written["outputFacets"]["outputStatistics"]
    assert (statistics["rowCount"], statistics["fileCount"] > 0) == (6, True)
    assert statistics["size"] == written["facets"]["dataQualityMetrics"]["bytes"]
    own = event["run"]["facets"]["backfill"]
    assert (own["run"], own["manifestDigest"], own["reason"], own["transform"]) == (
        done.run_id,
        done.digest,
        "tests",
        "load-readings/1.0.0",
    )


def test_a_chunk_names_its_run_and_what_its_gates_said(
    platform: Platform, done: Manifest, heard: list[RunEvent]
) -> None:
    tell_lineage(platform, heard.append)
    chunk, run = document(heard[2]), document(heard[3])
    assert chunk["run"]["facets"]["parent"]["run"]["runId"] == run["run"]["runId"]
    tests = {one["name"]: one for one in chunk["run"]["facets"]["test"]["tests"]}
    assert (tests["key_unique"]["status"], tests["key_unique"]["actual"]) == (
        "pass",
        "3 days pass",
    )


def test_a_held_gate_has_failed_and_a_warning_is_called_one(
    platform: Platform, plan: Plan, heard: list[RunEvent]
) -> None:
    stage_by_hand(platform, plan("first"), METERS, warned=[DAYS.start])
    tell_lineage(platform, heard.append)
    tests = {
        one["name"]: (one["status"], one["severity"])
        for one in document(heard[-1])["run"]["facets"]["test"]["tests"]
    }
    assert (tests["change_expected"], tests["key_unique"]) == (
        ("fail", "warn"),
        ("pass", "error"),
    )


def test_a_run_that_is_taken_up_again_is_another_run_for_lineage(
    platform: Platform, plan: Plan, heard: list[RunEvent]
) -> None:
    planned = plan("first")
    stage_start(platform, planned)
    fail_run(platform, planned.run_id, "a row says Ana Example")
    begin_staging(platform, planned)
    tell_lineage(platform, heard.append)
    assert [kind for _, kind in said(heard)] == ["START", "FAIL", "START"]
    first, failed, second = (UUID(event.run.runId) for event in heard)
    assert (first == failed, first == second) == (True, False)
    assert "Ana Example" not in as_json(heard[1])


def test_a_run_that_was_stopped_while_it_was_at_work_is_aborted(
    platform: Platform, plan: Plan, heard: list[RunEvent]
) -> None:
    planned = plan("first")
    stage_start(platform, planned)
    move_run(platform, planned.run_id, S.STAGING, S.CANCELLED, "enough")
    tell_lineage(platform, heard.append)
    assert [kind for _, kind in said(heard)] == ["START", "ABORT"]


def test_of_a_run_that_never_began_nothing_is_told(
    platform: Platform, plan: Plan, heard: list[RunEvent]
) -> None:
    move_run(platform, plan("first").run_id, S.PLANNED, S.CANCELLED, "enough")
    assert tell_lineage(platform, heard.append) == 0


def test_a_run_that_never_publishes_completes_when_it_is_judged(
    platform: Platform, plan: Plan, heard: list[RunEvent]
) -> None:
    stage_by_hand(platform, plan("dry", mode=ExecutionMode.DRY_RUN), METERS)
    tell_lineage(platform, heard.append)
    assert said(heard)[-1] == (BRONZE, "COMPLETE")


def test_a_table_that_is_read_is_named_as_the_one_that_was_written(
    platform: Platform, done: Manifest, plan: Plan
) -> None:
    totals = plan("totals", SILVER, days=MIDDLE)
    stage_start(platform, totals)
    event = document(list(run_events(platform, totals.run_id))[-1])
    assert event["inputs"][0]["name"] == "warehouse/bronze/readings"
    assert event["inputs"][0]["facets"]["version"]["datasetVersion"] == "1"


def test_the_events_of_a_run_are_those_that_were_told(
    platform: Platform, done: Manifest, heard: list[RunEvent]
) -> None:
    tell_lineage(platform, heard.append)
    again = list(run_events(platform, done.run_id))
    assert {(one.run.runId, one.eventType) for one in again} == {
        (one.run.runId, one.eventType) for one in heard
    }


def test_looking_at_what_is_due_tells_nothing(platform: Platform, done: Manifest) -> None:
    assert len(list(due_events(platform))) == 4
    assert len(platform.ledger.lineage_due(limit=100)) >= 4


def test_a_run_that_cannot_be_read_keeps_no_other_from_being_told(
    platform: Platform, plan: Plan, heard: list[RunEvent], done: Manifest
) -> None:
    spoiled = replace(platform, ledger=SpoiledLedger(platform.ledger, done))  # pyright: ignore[reportArgumentType]
    stage_start(platform, plan("second", days=MIDDLE))
    tell_lineage(spoiled, heard.append)
    assert said(heard) == [(BRONZE, "START")]


def test_what_is_never_taken_is_passed_over_and_noted(platform: Platform, done: Manifest) -> None:
    lines: list[JournalLine] = []

    def refuse(event: RunEvent) -> None:
        raise EventRefused("never")

    assert tell_lineage(replace(platform, journal=lines.append), refuse) == 0
    assert {(one.event, one.subject.run_id) for one in lines} == {("lineage_not_told", done.run_id)}
    assert platform.ledger.lineage_due(limit=10) == ()


def test_lineage_is_told_into_a_file_where_no_service_is_named(
    platform: Platform, done: Manifest
) -> None:
    tell_lineage(platform, make_delivery(platform.lineage))
    lines = platform.lineage.file.read_text().splitlines()
    assert [json.loads(line)["job"]["name"] for line in lines] == [*(f"{BRONZE}.chunk", BRONZE) * 2]


def test_a_service_that_is_away_is_told_of_with_what_follows(
    platform: Platform, done: Manifest
) -> None:
    away = replace(platform.lineage, url="http://127.0.0.1:9")
    with pytest.raises(EngineUnavailable, match="nothing else waits for it"):
        tell_lineage(platform, make_delivery(away))
    assert len(list(due_events(platform))) == 4


def stage_start(platform: Platform, planned: Manifest) -> None:
    move_run(platform, planned.run_id, S.PLANNED, S.APPROVED, "tests")
    begin_staging(platform, planned)


class Failing:
    """Hears so many events, and then is away."""

    def __init__(self, heard: list[RunEvent], after: int) -> None:
        self._heard = heard
        self._left = after

    def __call__(self, event: RunEvent) -> None:
        if self._left == 0:
            raise EngineUnavailable("away")
        self._left -= 1
        self._heard.append(event)


class SpoiledLedger:
    """Somebody has changed the manifest of one run."""

    def __init__(self, ledger: Ledger, spoiled: Manifest) -> None:
        self._ledger = ledger
        self._spoiled = spoiled

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def run(self, run_id: str) -> Any:
        record = self._ledger.run(run_id)  # pyright: ignore[reportArgumentType]
        is_spoiled = run_id == self._spoiled.run_id
        return replace(record, manifest_json="{}") if is_spoiled else record
