"""The databases that the ledger's contract holds on, each as fresh as if it had just been made."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from backfill_platform.ledger.migrate import migrate
from backfill_platform_tests.ledger.places import quick_place
from backfill_platform_tests.ledger.postgresql import running_server

BACKENDS = ("sqlite", "postgresql")
_TEMPLATE = "ledger_template"


@contextmanager
def fresh_ledger(backend: str) -> Iterator[str]:
    """The URL of a migrated ledger; migrated once, and copied, which is faster."""
    if backend == "postgresql":
        with running_server().database(_postgresql_template()) as name:
            yield running_server().url(name)
        return
    with tempfile.TemporaryDirectory(prefix="ledger-", dir=quick_place()) as folder:
        yield f"sqlite:///{shutil.copy(_sqlite_template(), Path(folder) / 'ledger.db')}"


@contextmanager
def empty_database(backend: str) -> Iterator[str]:
    if backend == "postgresql":
        with running_server().database() as name:
            yield running_server().url(name)
        return
    with tempfile.TemporaryDirectory(prefix="ledger-", dir=quick_place()) as folder:
        yield f"sqlite:///{folder}/a/folder/ledger.db"


@cache
def _sqlite_template() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="ledger-template-")
    path = Path(folder.name) / "ledger.db"
    migrate(f"sqlite:///{path}")
    _kept.append(folder)
    return path


@cache
def _postgresql_template() -> str:
    server = running_server()
    server.execute(f"CREATE DATABASE {_TEMPLATE}")
    migrate(server.url(_TEMPLATE))
    return _TEMPLATE


_kept: list[tempfile.TemporaryDirectory[str]] = []  # their end is that of the process
