"""Workers that are forked from a prepared process are started, interrupted and found dead like
Dagster's own, and run the code that is on disk. Real processes over definitions of their own."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import psutil
import pytest
from dagster._core.storage.tags import GRPC_INFO_TAG
from dagster._core.test_utils import (
    create_run_for_test,
    create_test_daemon_workspace_context,
    poll_for_event,
    poll_for_finished_run,
)
from dagster._core.workspace.context import BaseWorkspaceRequestContext
from dagster._core.workspace.load_target import PythonFileTarget

from backfill_platform.orchestration import prepared_worker, run_launcher, tags
from backfill_platform.orchestration.worker_processes import name_process

PREPARED = Path(prepared_worker.__file__)
LAUNCHER = {"module": run_launcher.__name__, "class": run_launcher.PreparedLauncher.__name__}
LOCATION = "declared"
DECLARED = Path(__file__).with_name("declared_for_workers.py")

LOOK = """
import runpy, sys, threading
runpy.run_path(sys.argv[1])["_prepare"]()
print(threading.active_count(), "dagster" in sys.modules, "backfill_platform" in sys.modules)
"""


@dataclass(frozen=True)
class Launched:
    """What a run left."""

    instance: dg.DagsterInstance
    run_id: str

    @property
    def run(self) -> dg.DagsterRun:
        found = self.instance.get_run_by_id(self.run_id)
        assert found is not None
        return found

    @property
    def is_prepared(self) -> bool:
        return tags.PROCESS in self.run.tags and GRPC_INFO_TAG not in self.run.tags

    @property
    def ended(self) -> dg.DagsterRunStatus:
        return poll_for_finished_run(self.instance, self.run_id, timeout=60).status

    @property
    def said(self) -> str:
        return "\n".join(entry.user_message for entry in self.instance.all_logs(self.run_id))


@dataclass(frozen=True)
class House:
    folder: Path
    instance: dg.DagsterInstance
    workspace: BaseWorkspaceRequestContext

    def launch(self, job: str, *, python: str = sys.executable) -> Launched:
        repository = self.workspace.get_code_location(LOCATION).get_repository("__repository__")
        found = repository.get_full_job(job)
        code = found.get_python_origin()
        there = code.repository_origin._replace(executable_path=python)
        run = create_run_for_test(
            self.instance,
            job_name=job,
            remote_job_origin=found.get_remote_origin(),
            job_code_origin=code._replace(repository_origin=there),
            asset_graph=repository.asset_graph,
        )
        self.instance.launch_run(run.run_id, self.workspace)
        return Launched(self.instance, run.run_id)

    def source(self) -> psutil.Process:
        (found,) = (
            child for child in psutil.Process().children() if str(PREPARED) in child.cmdline()
        )
        return found


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("declared")
    shutil.copy(DECLARED, folder / "declared.py")
    (folder / "words.py").write_text("WORD = 'first'")
    target = PythonFileTarget(
        python_file=str(folder / "declared.py"),
        attribute="defs",
        working_directory=str(folder),
        location_name=LOCATION,
    )
    settings = dg.DagsterInstance.local_temp(
        str(tmp_path_factory.mktemp("dagster")), overrides={"run_launcher": LAUNCHER}
    )
    with settings as instance, create_test_daemon_workspace_context(target, instance) as process:
        yield House(folder, instance, process.create_request_context())


@pytest.fixture
def stranger() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_a_run_is_carried_out_by_a_prepared_worker(house: House):
    launched = house.launch("saying")
    assert (launched.ended, launched.is_prepared) == (dg.DagsterRunStatus.SUCCESS, True)


def test_steps_may_have_processes_of_their_own(house: House):
    assert house.launch("saying_in_processes").ended is dg.DagsterRunStatus.SUCCESS


def test_libraries_with_threads_work_in_a_prepared_worker(house: House):
    assert house.launch("using_libraries").ended is dg.DagsterRunStatus.SUCCESS


def test_a_worker_runs_the_code_that_is_on_disk_when_it_starts(house: House):
    before = house.launch("saying")
    assert before.ended is dg.DagsterRunStatus.SUCCESS
    (house.folder / "words.py").write_text("WORD = 'another'")
    after = house.launch("saying")
    assert after.ended is dg.DagsterRunStatus.SUCCESS
    assert "The word is first." in before.said
    assert "The word is another." in after.said


def test_only_libraries_are_prepared_and_in_one_thread():
    looked = subprocess.run(
        [sys.executable, "-P", "-c", LOOK, str(PREPARED)], capture_output=True, text=True
    )
    assert looked.stdout.split() == ["1", "True", "False"]


def test_terminating_a_run_interrupts_its_worker(house: House):
    launched = house.launch("waiting")
    poll_for_event(house.instance, launched.run_id, "STEP_START", message=None)
    assert house.instance.run_launcher.terminate(launched.run_id)
    assert launched.ended is dg.DagsterRunStatus.CANCELED
    assert "DagsterExecutionInterruptedError" in str(house.instance.all_logs(launched.run_id))


def test_terminating_a_run_spares_a_process_that_was_given_its_number(house: House, stranger):
    boot, number, started = name_process(stranger.pid).split(":")
    ours = f"{boot}:{number}:{int(started) - 1} for one"
    begun = dg.DagsterRunStatus.STARTED
    house.instance.add_run(dg.DagsterRun("waiting", "one", status=begun, tags={tags.PROCESS: ours}))
    assert not house.instance.run_launcher.terminate("one")
    assert stranger.poll() is None


def test_a_run_that_is_executed_again_does_not_end_the_one_before(house: House, stranger):
    before = f"{name_process(stranger.pid)} for one"
    begun = dg.DagsterRunStatus.STARTED
    again = dg.DagsterRun("waiting", "two", status=begun, tags={tags.PROCESS: before})
    house.instance.add_run(again)
    assert not house.instance.run_launcher.terminate("two")
    assert stranger.poll() is None


def test_a_worker_that_is_killed_leaves_a_failed_run_and_no_zombie(house: House):
    assert house.launch("dying").ended is dg.DagsterRunStatus.FAILURE
    assert house.source().children() == []


def test_a_worker_that_dies_before_its_run_has_begun_is_told_as_failed(house: House):
    deadly = house.folder / "deadly"
    deadly.touch()
    launched = house.launch("saying")
    assert launched.ended is dg.DagsterRunStatus.FAILURE
    assert "ended unexpectedly" in str(house.instance.all_logs(launched.run_id))
    deadly.unlink()


def test_workers_come_from_a_fresh_process_when_the_prepared_one_has_died(house: House):
    assert house.launch("saying").ended is dg.DagsterRunStatus.SUCCESS
    died = house.source()
    died.kill()
    died.wait()
    launched = house.launch("saying")
    assert (launched.ended, launched.is_prepared) == (dg.DagsterRunStatus.SUCCESS, True)


def test_a_worker_outlives_the_process_that_it_was_forked_from(house: House):
    launched = house.launch("waiting")
    poll_for_event(house.instance, launched.run_id, "STEP_START", message=None)
    house.source().kill()
    assert launched.run.status is dg.DagsterRunStatus.STARTED
    assert house.instance.run_launcher.terminate(launched.run_id)
    assert launched.ended is dg.DagsterRunStatus.CANCELED


def test_code_of_another_python_is_left_to_dagsters_own_launcher(house: House):
    launched = house.launch("saying", python="/another/python")
    assert (launched.ended, launched.is_prepared) == (dg.DagsterRunStatus.SUCCESS, False)


def test_what_cannot_be_prepared_is_left_to_dagsters_own_launcher(house: House, monkeypatch):
    house.instance.run_launcher.dispose()
    monkeypatch.setattr(run_launcher, "_PREPARED", house.folder / "nowhere.py")
    launched = house.launch("saying")
    assert (launched.ended, launched.is_prepared) == (dg.DagsterRunStatus.SUCCESS, False)
