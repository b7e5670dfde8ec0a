"""Brings a ledger's schema to what this version of the platform needs; never back.

Runs before the store is opened (`backfill setup`). Knows revisions, not what is in the tables.
"""

import sqlite3
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import tenacity
from alembic import command
from alembic.config import Config

from backfill_platform.ledger.database import BUSY_TIMEOUT_SECONDS, opened, writing
from backfill_platform.ledger.revisions import (
    current_revision,
    head_revision,
    read_revision,
    refuse_unknown_revision,
    sqlite_path,
)

__all__ = ["MIGRATIONS", "current_revision", "head_revision", "migrate", "migration_config"]

MIGRATIONS = Path(__file__).parent / "migrations"
_POSTGRESQL_LOCK = 7_302_026  # any number, the same for everybody who migrates


def migrate(url: str) -> None:
    path = sqlite_path(url)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    with opened(url) as engine:
        _use_write_ahead_log(engine)
        # The whole upgrade is one transaction under the write lock: a second process waits, then
        # finds nothing left to do, and a crash leaves the ledger as it was.
        with writing(engine) as connection:
            _wait_for_other_migrations(connection)
            refuse_unknown_revision(url, read_revision(connection))
            command.upgrade(migration_config(connection), "head")


def migration_config(connection: sa.Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _wait_for_other_migrations(connection: sa.Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_POSTGRESQL_LOCK)))


def _use_write_ahead_log(engine: sa.Engine) -> None:
    """Readers never wait for a writer. The file remembers it, so it is set here only."""
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            _set_journal(connection.connection.cursor())


def _is_busy(failure: BaseException) -> bool:
    return getattr(failure, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY


# SQLite waits for everything but this: another process that sets it refuses us at once.
@tenacity.retry(
    retry=tenacity.retry_if_exception(_is_busy),
    stop=tenacity.stop_after_delay(BUSY_TIMEOUT_SECONDS),
    wait=tenacity.wait_random(max=0.1),
    reraise=True,
)
def _set_journal(cursor: Any) -> None:
    cursor.execute("PRAGMA journal_mode = WAL")
