"""Opens the ledger's database and its transactions; what differs between databases stands here.

Library errors are translated at this edge: a database that is locked, lost or full is
`EngineUnavailable`, and nothing of the transaction remains.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError

from backfill_platform.domain.errors import EngineUnavailable

BUSY_TIMEOUT_SECONDS = 30
_WRITES = "ledger_writes"


def make_engine(url: str) -> sa.Engine:
    if sa.make_url(url).get_backend_name() != "sqlite":
        return sa.create_engine(url, pool_pre_ping=True)
    # A connection costs less than a millisecond; without a pool none outlives its transaction.
    engine = sa.create_engine(
        url, poolclass=sa.NullPool, connect_args={"timeout": BUSY_TIMEOUT_SECONDS}
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


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


def _prepare_sqlite(dbapi_connection: Any, _record: Any) -> None:
    dbapi_connection.isolation_level = None  # the driver must not begin transactions on its own
    dbapi_connection.execute("PRAGMA foreign_keys = ON")
    dbapi_connection.execute("PRAGMA synchronous = FULL")  # a recorded intent survives a power cut


def _begin_sqlite(connection: sa.Connection) -> None:
    """Writers take the lock at once: one that reads first could not be let through later."""
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
