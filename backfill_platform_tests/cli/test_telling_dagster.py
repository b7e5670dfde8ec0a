"""`rollback` and `recover` tell Dagster what is accepted now, and never depend on it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from backfill_platform.cli import main
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.runs import RunRecord
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration.keys import staging_key, table_key
from backfill_platform.settings import dagster_environment, load_settings
from backfill_platform_tests.cli.conftest import Call
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand
from backfill_platform_tests.readings import BRONZE

PROGRAM = """
import sys
from backfill_platform.cli.main import app
try:
    app({arguments!r})
except SystemExit as end:
    print(end.code, "dagster" in sys.modules, file=sys.stderr)
"""


@pytest.fixture
def published(call: Call, platform: Platform, planned: Manifest) -> Manifest:
    """Three days, and Dagster knows nothing of them."""
    run_by_hand(platform, planned, dict.fromkeys(planned.target.partitions, ("a",)))
    return planned


@pytest.fixture
def storage(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Dagster was used before; what a verb enters into the environment ends with the test."""
    for name, value in dagster_environment(load_settings()).items():
        monkeypatch.setenv(name, value)
    folder = load_settings().dagster_storage
    folder.mkdir()
    return folder


@pytest.fixture
def as_process(call: Call) -> Callable[..., tuple[str, str]]:
    """Its output, then its exit code and whether it has imported Dagster."""

    def run(*arguments: str) -> tuple[str, str]:
        program = PROGRAM.format(arguments=arguments)
        answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        return answer.stdout, answer.stderr.splitlines()[-1]

    return run


def accepted_runs() -> set[str]:
    """As the newest materialization of each partition tells it."""
    with dg.DagsterInstance.get() as instance:
        records = instance.fetch_materializations(table_key(BRONZE), limit=100, ascending=True)
        told = {one.partition_key: one.asset_materialization for one in records.records}
    return {str(said.metadata["accepted run"].value) for said in told.values() if said is not None}


def rollback_of(platform: Platform) -> RunRecord:
    (found,) = platform.ledger.runs(BRONZE, kind=RunKind.ROLLBACK)
    return found


def arguments(published: Manifest, *more: str) -> tuple[str, ...]:
    return ("rollback", published.run_id, "--reason", "wrong", "--confirm", *more)


def test_a_rollback_tells_dagster(as_process, platform, published, storage):
    output, end = as_process(*arguments(published))
    assert end == "0 True"
    assert "Dagster shows it of 3 partitions." in output
    assert accepted_runs() == {rollback_of(platform).run_id}


def test_where_dagster_was_never_used_nobody_waits_for_it(as_process, published):
    _, end = as_process(*arguments(published))
    assert end == "0 False"


def test_a_rollback_that_is_refused_does_not_wait_for_dagster(as_process, published, storage):
    _, end = as_process("rollback", published.run_id, "--reason", "", "--confirm")
    assert end == "1 False"


def test_a_look_at_a_rollback_does_not_wait_for_dagster(as_process, published, storage):
    _, end = as_process("rollback", published.run_id, "--reason", "wrong", "--dry-run")
    assert end == "0 False"


def test_programs_are_told_how_dagster_stands(call, published, storage):
    first = call(*arguments(published, "--json")).document
    again = call(*arguments(published, "--json")).document
    assert (first["dagster"], again) == ("IN_LINE", first)


@pytest.fixture
def broken(storage: Path) -> Path:
    """No folder, so nothing can be stored in it."""
    (storage / "history").write_text("")
    return storage / "history"


def test_a_rollback_stands_though_dagster_cannot_be_told(call, platform, published, broken):
    answer = call(*arguments(published))
    rollback = rollback_of(platform)
    assert (answer.exit_code, rollback.state) == (0, RunState.PUBLISHED)
    (line,) = answer.stderr.splitlines()
    assert line.startswith("dagster-not-told: Dagster may still show what was before")
    assert line.endswith(f"backfill recover {rollback.run_id} --confirm")


def test_for_programs_the_rollback_is_one_document_then_too(call, published, broken):
    assert call(*arguments(published, "--json")).document["dagster"] == "NOT_TOLD"


def test_a_recovery_that_cannot_tell_dagster_is_not_done(call, published, broken):
    answer = call("recover", "--confirm")
    assert answer.exit_code == main.EXIT_REFUSED
    assert answer.stderr.startswith("dagster-not-told")


def test_a_recovery_tells_what_dagster_missed(call, platform, published, broken):
    call(*arguments(published))
    broken.unlink()
    answer = call("recover", rollback_of(platform).run_id, "--confirm")
    assert "Dagster, done: tell it of 3 partitions what is accepted" in answer.stdout
    assert accepted_runs() == {rollback_of(platform).run_id}


def test_a_recovery_of_all_runs_tells_of_all_their_tables(call, published, storage):
    answer = call("recover", "--confirm")
    assert "tell it of 3 partitions what is accepted" in answer.stdout
    assert accepted_runs() == {published.run_id}


def test_a_recovery_tells_how_days_were_judged_that_nobody_published(
    call, platform, planned, storage
):
    stage_by_hand(platform, planned, dict.fromkeys(planned.target.partitions, ("a",)))
    assert "tell it of 3 partitions" in call("recover", "--confirm").stdout
    key = dg.AssetCheckKey(staging_key(platform.catalog.tables[BRONZE]), "key_unique")
    with dg.DagsterInstance.get() as instance:
        told = instance.event_log_storage.get_asset_check_execution_history(key, limit=10)
    days = [day.isoformat() for day in planned.target.partitions]
    assert [one.partition for one in reversed(told)] == [*days, None]
    assert "Dagster" not in call("recover", "--confirm").stdout


def test_a_look_at_a_recovery_tells_dagster_nothing(call, published, storage):
    answer = call("recover", "--dry-run")
    assert "Dagster, would be done: tell it of 3 partitions what is accepted" in answer.stdout
    assert accepted_runs() == set()


def test_a_recovery_has_nothing_to_tell_twice(call, published, storage):
    call("recover", "--confirm")
    assert call("recover", "--confirm").stdout == "1 of 1 run are well.\n"
