"""Child processes that are started together, watched together and stopped in order."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from backfill_platform.domain.errors import EngineUnavailable

STOP_SECONDS = 20.0
POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    name: str
    host: str
    port: int
    log: Path
    process: "subprocess.Popen[bytes]"

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None


@contextmanager
def running(
    name: str,
    command: Sequence[str],
    *,
    host: str,
    port: int,
    log: Path,
) -> Iterator[Service]:
    """A service for the time of the block; its whole process group ends with the block. It sees
    the environment of this process."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches us alone; we stop the others in order
        )
    try:
        yield Service(name=name, host=host, port=port, log=log, process=process)
    finally:
        _stop(process)


def wait_until_listening(service: Service, *, timeout_seconds: float) -> None:
    deadline = time.monotonic() + timeout_seconds
    while not is_listening(service.host, service.port):
        if service.has_ended or time.monotonic() > deadline:
            raise EngineUnavailable(
                f"{service.name} did not come up on {service.host}:{service.port}; "
                f"{service.log} says why"
            )
        time.sleep(POLL_SECONDS)


def is_listening(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False


def _stop(process: "subprocess.Popen[bytes]") -> None:
    _signal(process, signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=STOP_SECONDS)
    # Whatever is left of the group: a grandchild may have outlived its parent.
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
