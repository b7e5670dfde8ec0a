"""`backfill rollback` from the first look to the last word, over runs that were staged by hand."""

import json
from collections.abc import Callable

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from typer.testing import CliRunner, Result

from backfill_platform.cli import main
from backfill_platform.domain.chunks import ChunkCounts, ClaimedChunk
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.verdicts import Gate, Outcome, Verdict
from backfill_platform.engine.carry_out.progress import advance_run, begin_staging
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform_tests.readings import BRONZE, week

DAYS = week(days=2)
Call = Callable[..., Result]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Call:
    """Under the policy that is shipped: a rollback needs one more person."""
    monkeypatch.setenv("BACKFILL_CATALOG", "backfill_platform_tests.readings:DECLARATIONS")
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main.app, arguments)

    return run


@pytest.fixture
def runs(platform: Platform) -> tuple[RunId, RunId]:
    """Two runs over the same days; the second one replaced what the first had published."""
    return publish(platform, "first", amount=1), publish(platform, "second", amount=20)


@pytest.fixture
def planned(call: Call, runs: tuple[RunId, RunId]) -> str:
    """The rollback of the second run, which waits for consent."""
    answer = call("rollback", runs[1], "--reason", "wrong", "--confirm", "--json")
    return json.loads(answer.stdout)["manifest"]["run_id"]


def publish(platform: Platform, origin: str, *, amount: int) -> RunId:
    run_id = open_run(platform, intent(origin)).run_id
    stage(platform, run_id, amount)
    publish_chunk(platform, run_id, DAYS)
    return run_id


def intent(origin: str) -> Intent:
    return Intent(
        table=BRONZE,
        days=PartitionSet.of_range(DAYS),
        kind=RunKind.BACKFILL,
        mode=ExecutionMode.BACKFILL,
        knowledge=Knowledge.UP_TO_SNAPSHOT,
        reason="tests",
        requested_by="tests",
        origin=origin,
        group_id=origin,
        computes_all=True,  # rows that are staged by hand are not what the inputs give
    )


def stage(platform: Platform, run_id: RunId, amount: int) -> None:
    """What a worker with Spark leaves behind."""
    ledger, now = platform.ledger, platform.clock()
    chunk = ledger.claim_chunk(run_id, DAYS, worker="tests", lease_seconds=60, now=now)
    assert isinstance(chunk, ClaimedChunk)
    manifest = open_run(platform, intent(ledger.run(run_id).origin))
    begin_staging(platform, manifest)
    staging = platform.warehouse.staging_path(BRONZE, run_id)
    write_deltalake(staging, rows(run_id, amount), mode="append")
    ledger.finish_chunk_staging(
        run_id,
        chunk.chunk_id,
        chunk.fencing_token,
        counts=ChunkCounts(input_count=2, output_count=2, checksum="c"),
        measurements=measured(amount),
        now=now,
    )
    ledger.record_verdicts(run_id, DAYS, passed(), now=now)
    advance_run(platform, manifest)


def rows(run_id: RunId, amount: int) -> pa.Table:
    return pa.table(
        {
            "day": pa.array(list(DAYS), pa.date32()),
            "meter": ["a"] * 2,
            "amount": pa.array([amount] * 2, pa.int64()),
            "produced_by_run_id": [run_id] * 2,
            "transform_version": ["load-readings/1.0.0"] * 2,
            "input_snapshot": ["s"] * 2,
            "processing_mode": ["BACKFILL"] * 2,
            "reference_data_version": pa.array([None] * 2, pa.string()),
        }
    )


def measured(amount: int) -> list[PartitionMeasurement]:
    return [
        PartitionMeasurement(
            day=day,
            row_count=1,
            checksum=f"1:{amount}",
            duplicate_keys=0,
            null_counts={},
            check_failures={},
            measures={"rows": 1},
        )
        for day in DAYS
    ]


def passed() -> list[Verdict]:
    return [
        Verdict(gate=gate, day=day, outcome=Outcome.PASSED, expected="", found="", message="")
        for gate in Gate
        for day in DAYS
    ]


def amounts(platform: Platform) -> list[int]:
    table = DeltaTable(platform.warehouse.table_path(BRONZE)).to_pyarrow_table(columns=["amount"])
    return table.column(0).to_pylist()


def test_a_dry_run_shows_the_plan_and_records_nothing(call, runs, platform):
    answer = call("rollback", runs[1], "--reason", "wrong", "--dry-run")
    assert answer.exit_code == 0
    assert f"It takes back what {runs[1]} published." in answer.stdout
    assert "nothing is read or computed" in answer.stdout
    assert len(platform.ledger.runs(BRONZE)) == 2


def test_a_script_has_to_say_whether_to_show_or_to_act(call, runs):
    answer = call("rollback", runs[1], "--reason", "wrong")
    assert answer.exit_code == 2


def test_a_rollback_waits_for_consent_and_says_how_to_go_on(call, runs, platform):
    answer = call("rollback", runs[1], "--reason", "wrong", "--confirm")
    rollback = platform.ledger.runs(BRONZE, kind=RunKind.ROLLBACK)[0]
    assert answer.exit_code == main.EXIT_WAITS
    assert f"backfill approve {rollback.run_id} --as NAME --role incident" in answer.stdout
    assert f"backfill rollback {runs[1]} --confirm" in answer.stdout
    assert (rollback.state, amounts(platform)) == (RunState.AWAITING_APPROVAL, [20, 20])


def test_called_again_after_the_approval_it_is_carried_out(call, runs, planned, platform):
    call("approve", planned, "--as", "manager", "--confirm")
    answer = call("rollback", runs[1], "--confirm")
    assert answer.exit_code == 0
    assert f"Rolled back by {planned}" in answer.stdout
    assert f"{runs[1]}, which is ROLLED_BACK" in answer.stdout
    assert amounts(platform) == [1, 1]


def test_a_rollback_that_is_done_stays_done(call, runs, planned, platform):
    call("approve", planned, "--as", "manager", "--confirm")
    first = call("rollback", runs[1], "--confirm", "--json")
    again = call("rollback", runs[1], "--confirm", "--json")
    assert json.loads(again.stdout) == json.loads(first.stdout)
    assert len(platform.ledger.runs(BRONZE)) == 3


def test_for_programs_the_end_is_one_document(call, runs, planned):
    call("approve", planned, "--as", "manager", "--confirm")
    document = json.loads(call("rollback", runs[1], "--confirm", "--json").stdout)
    assert document["undone"] == {"run_id": runs[1], "state": "ROLLED_BACK"}
    assert (document["state"], document["delta_version"]) == ("PUBLISHED", 3)
    assert {one["checksum"] for one in document["accepted"]} == {"1:1"}


def test_while_it_waits_programs_get_the_reason_and_the_exit_code(call, runs, planned):
    answer = call("rollback", runs[1], "--confirm", "--json")
    assert answer.exit_code == main.EXIT_WAITS
    assert "needs the approval of incident" in json.loads(answer.stdout)["waits_for"]


def test_a_run_that_was_superseded_is_refused_in_words(call, runs):
    answer = call("rollback", runs[0], "--reason", "wrong", "--dry-run")
    assert answer.exit_code == main.EXIT_REFUSED
    assert f"no longer owed to {runs[0]} but to {runs[1]}" in answer.stderr


def test_days_that_are_none_are_a_usage_error(call, runs):
    answer = call("rollback", runs[1], "--days", "yesterday", "--dry-run")
    assert answer.exit_code == 2
