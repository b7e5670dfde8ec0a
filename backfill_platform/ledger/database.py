"""Opens the ledger's database and its transactions; what differs between databases stands here.

Library errors are translated at this edge: a database that is locked, lost or full is
`EngineUnavailable`, and nothing of the transaction remains
(test_a_database_that_is_lost_in_the_middle_of_a_move_keeps_nothing_of_it).
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError

from backfill_platform.domain.errors import EngineUnavailable

BUSY_TIMEOUT_SECONDS = 30.0  # how long a writer waits for another one
_CONNECT_TIMEOUT_SECONDS = 10
_WRITES = "ledger_writes"


def make_engine(url: str, *, busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS) -> sa.Engine:
    if sa.make_url(url).get_backend_name() == "sqlite":
        return _make_sqlite(url, busy_timeout_seconds)
    return _make_postgresql(url, busy_timeout_seconds)


@contextmanager
def opened(url: str) -> Iterator[sa.Engine]:
    engine = make_engine(url)
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def reading(engine: sa.Engine) -> Iterator[sa.Connection]:
    with _translated(engine), engine.begin() as connection:
        yield connection


@contextmanager
def writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    with (
        _translated(engine),
        engine.connect() as connection,
        connection.execution_options(**{_WRITES: True}).begin(),
    ):
        yield connection


@contextmanager
def _translated(engine: sa.Engine) -> Iterator[None]:
    try:
        yield
    except (IntegrityError, ProgrammingError, DataError):
        raise  # about what was written, and not about where
    except DBAPIError as failure:
        place = engine.url.render_as_string(hide_password=True)
        raise EngineUnavailable(
            f"The ledger {place} could not be used ({failure.orig}); nothing was changed. "
            "Look whether its disk or server is there, and try again."
        ) from failure


def _make_sqlite(url: str, busy_timeout_seconds: float) -> sa.Engine:
    # A connection costs less than a millisecond; without a pool none outlives its transaction.
    engine = sa.create_engine(
        url, poolclass=sa.NullPool, connect_args={"timeout": busy_timeout_seconds}
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_postgresql(url: str, busy_timeout_seconds: float) -> sa.Engine:
    """`postgresql://` means the driver that is installed, whatever SQLAlchemy takes for it."""
    parsed = sa.make_url(url)
    if parsed.drivername in {"postgresql", "postgres"}:
        parsed = parsed.set(drivername="postgresql+psycopg")
    return sa.create_engine(
        parsed,
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": _CONNECT_TIMEOUT_SECONDS,
            "options": f"-c lock_timeout={int(busy_timeout_seconds * 1000)}",
        },
    )


def _prepare_sqlite(dbapi_connection: Any, _record: Any) -> None:
    dbapi_connection.isolation_level = None  # the driver must not begin transactions on its own
    dbapi_connection.execute("PRAGMA foreign_keys = ON")
    dbapi_connection.execute("PRAGMA synchronous = FULL")  # a recorded intent survives a power cut


def _begin_sqlite(connection: sa.Connection) -> None:
    """Writers take the lock at once: one that reads first could not be let through later."""
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def stand_in_line(connection: sa.Connection, subject: str) -> None:
    """Until this transaction ends, nobody else is past this point with the same subject.

    A guarded update decides about a row that exists; this decides about rows that do not yet.
    SQLite's writers stand in line anyhow.
    """
    if connection.dialect.name == "postgresql":
        digest = hashlib.sha256(subject.encode()).digest()
        key = int.from_bytes(digest[:8], signed=True)
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))
