"""The process that the workers of Dagster runs are forked from: it has imported the libraries that
each of them needs, which is most of what a worker does before it is at work.

`run_launcher` starts this file by its path and asks it for workers over its standard input. Each
request brings a pipe, from which the worker reads what it has to carry out; where nothing comes, it
ends without having done anything.

Invariant: a worker runs the code that is on disk when it starts
(test_a_worker_runs_the_code_that_is_on_disk_when_it_starts). So nothing of the platform and of its
users is imported here, not even this module's package: only libraries. And no thread of Python is
started, no file is held and nothing is connected to: a fork would share it.
"""

import gc
import importlib
import os
import signal
import socket
import sys
from contextlib import suppress

_LIBRARIES = (
    *("dagster", "dagster._cli.api", "dagster_pyspark"),
    *("dagster._core.instance.factory", "dagster._core.storage.sqlite_storage", "alembic.command"),
    *("dagster._core.storage.root", "upath.implementations.local"),
    *("dagster._core.definitions.repository_definition.repository_data_builder", "psycopg"),
    *("numpy", "pandas", "pyarrow.csv", "pyarrow.dataset", "pyspark.sql.connect.session"),
    *("deltalake", "pandera.pyspark", "openlineage.client", "prometheus_client.core", "tenacity"),
    *("sqlalchemy.dialects.sqlite", "sqlalchemy.dialects.postgresql"),
    *("pydantic_settings", "cryptography.x509", "sshsig.allowed_signers"),
)


def main() -> None:
    asked = _take_standard_input()
    _prepare()
    asked.send(b"ready")
    pipe = _fork_workers(asked)
    if pipe is not None:
        _work(pipe)


def _prepare() -> None:
    for library in _LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(library)
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with whoever asks it, and not before
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so no worker is left as a zombie


def _fork_workers(asked: socket.socket) -> int | None:
    """In a worker, its pipe; in this process nothing, when nobody asks any more."""
    while pipes := socket.recv_fds(asked, 1, 1)[1]:
        worker = os.fork()
        if worker == 0:
            asked.close()
            return pipes[0]
        os.close(pipes[0])
        asked.send(str(worker).encode())
    return None


def _take_standard_input() -> socket.socket:
    """A worker has nothing to read there, as one of Dagster's own has not."""
    asked = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return asked


def _work(pipe: int) -> None:
    """What `dagster api execute_run` does, which Dagster's launchers of containers call."""
    from dagster._cli.api import _execute_run_command_body
    from dagster._cli.utils import get_instance_for_cli
    from dagster._grpc.types import ExecuteRunArgs
    from dagster._serdes import deserialize_value
    from dagster._utils.interrupts import capture_interrupts

    _be_a_process_of_its_own()
    with capture_interrupts(), open(pipe) as read:
        if not (told := read.read()):
            return
        args = deserialize_value(told, ExecuteRunArgs)
        with get_instance_for_cli(instance_ref=args.instance_ref) as instance:
            _execute_run_command_body(
                args.run_id, instance, lambda _: None, set_exit_code_on_failure=False
            )


def _be_a_process_of_its_own() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path.insert(0, os.getcwd())  # where `python -m dagster` looks first
    importlib.invalidate_caches()
    import numpy as np

    np.random.seed()  # Python's own generator does so in each fork


if __name__ == "__main__":
    main()
