"""Starts the worker of a Dagster run from a process that has imported the libraries already; see
`prepared_worker` for what is imported, and what must not be.

Only where the run's code is on this machine and belongs to the same Python. Everything else, and
whatever cannot be prepared, is started as Dagster's own launcher does it. A worker outlives whoever
launched it; how it ended is looked at from here, and by `sensors.dead_runs` when nobody is left.
"""

import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from dagster._core.launcher.base import LaunchRunContext  # no public names for these
from dagster._core.launcher.default_run_launcher import DefaultRunLauncher
from dagster._core.remote_representation.code_location import GrpcServerCodeLocation
from dagster._grpc.types import ExecuteRunArgs
from dagster._serdes import ConfigurableClassData, serialize_value

from backfill_platform.orchestration import tags
from backfill_platform.orchestration.sensors.dead_runs import sign
from backfill_platform.orchestration.worker_processes import (
    IS_SUPPORTED,
    interrupt,
    name_process,
    take_handle,
    wait_for_end,
)

_PREPARED = Path(__file__).with_name("prepared_worker.py")
_BETWEEN = " for "
_LONGEST_SECONDS = 60.0  # until it answers; then Dagster's own way is taken


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worker:
    """It waits until it reads what to do, and ends where `pipe` is closed before."""

    pid: int
    name: str
    handle: int
    pipe: int


class PreparedLauncher(DefaultRunLauncher):
    """Dagster's own launcher, with workers that need not import libraries."""

    def __init__(self, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(inst_data)
        self._source: _Source | None = None
        self._lock = threading.Lock()

    def launch_run(self, context: LaunchRunContext) -> None:
        worker = self._take_worker() if _may_be_prepared(context) else None
        if worker is None:
            return super().launch_run(context)
        run_id = context.dagster_run.run_id
        # Whoever finds it gone, or wants to interrupt it, knows it before it does anything.
        with open(worker.pipe, "w") as told:
            sign(self._instance, run_id, f"{socket.gethostname()}:{worker.pid}")
            self._instance.add_run_tags(run_id, {tags.PROCESS: f"{worker.name}{_BETWEEN}{run_id}"})
            with suppress(BrokenPipeError):  # it was killed, which is seen below
                told.write(_task(context, self._instance))
                told.flush()
        self._run_ids.add(run_id)
        threading.Thread(target=self._see_off, args=(run_id, worker), daemon=True).start()
        return None

    def terminate(self, run_id: str) -> bool:
        run = self._instance.get_run_by_id(run_id)
        name = run and _process_of(run)
        if not run or run.is_finished or not name:
            return super().terminate(run_id)
        self._instance.report_run_canceling(run)
        return interrupt(name)

    def dispose(self) -> None:
        """Its workers stay."""
        with self._lock:
            self._end_source()

    def _take_worker(self) -> _Worker | None:
        """Nothing, where there is none to be had: none has been told to do anything then."""
        with self._lock:
            try:
                return self._living_source().take_worker()
            except OSError:
                self._end_source()
        return None

    def _living_source(self) -> "_Source":
        if self._source is not None and self._source.is_alive:
            return self._source
        self._end_source()
        self._source = _Source()
        self._source.prepare()
        return self._source

    def _end_source(self) -> None:
        if self._source is not None:
            self._source.end()
        self._source = None

    def _see_off(self, run_id: str, worker: _Worker) -> None:
        """As Dagster's code server does for the workers that it starts."""
        wait_for_end(worker.handle)
        run = self._instance.get_run_by_id(run_id)
        if run is not None and not run.is_finished:
            self._instance.report_run_failed(run, f"Its process {worker.pid} ended unexpectedly.")


class _Source:
    """The process that workers are forked from, ready. It ends with its socket, and so with us."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(_LONGEST_SECONDS)
        # Without -P Python would look for libraries beside that file first.
        command = [sys.executable, "-P", str(_PREPARED)]
        with theirs:
            self._process = subprocess.Popen(command, stdin=theirs.fileno())

    def prepare(self) -> None:
        if not self._socket.recv(16):
            raise ConnectionError("it did not come to the end of its imports")

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def take_worker(self) -> _Worker:
        theirs, ours = os.pipe()
        try:
            socket.send_fds(self._socket, [b"?"], [theirs])
            pid = int(self._socket.recv(16) or b"0")
            name = name_process(pid)
            handle = take_handle(name)
            if handle is None:
                raise ProcessLookupError(pid)
        except OSError:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        return _Worker(pid=pid, name=name, handle=handle, pipe=ours)

    def end(self) -> None:
        self._socket.close()
        self._process.kill()  # it holds nothing, and might hang
        self._process.wait()


def _may_be_prepared(context: LaunchRunContext) -> bool:
    """A code server behind a socket of the file system is on this machine."""
    code, origin = context.job_code_origin, context.dagster_run.remote_job_origin
    if not (IS_SUPPORTED and context.workspace and code and origin):
        return False
    location = context.workspace.get_code_location(origin.location_name)
    is_here = isinstance(location, GrpcServerCodeLocation) and location.client.socket is not None
    return is_here and code.repository_origin.executable_path == sys.executable


def _task(context: LaunchRunContext, instance: dg.DagsterInstance) -> str:
    run, code = context.dagster_run, context.job_code_origin
    assert code is not None  # `_may_be_prepared` has looked
    return serialize_value(
        ExecuteRunArgs(job_origin=code, run_id=run.run_id, instance_ref=instance.get_ref())
    )


def _process_of(run: dg.DagsterRun) -> str:
    """A run that is executed again inherits the tags of the one before."""
    name, _, run_id = run.tags.get(tags.PROCESS, "").partition(_BETWEEN)
    return name if run_id == run.run_id else ""
