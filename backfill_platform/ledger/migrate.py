"""Brings a ledger's schema to what this version of the platform needs; never back.

Runs before the store is opened (`backfill setup`). Knows revisions, not what is in the tables.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from backfill_platform.domain.errors import SetupIncomplete
from backfill_platform.ledger.database import make_engine, reading, writing

MIGRATIONS = Path(__file__).parent / "migrations"
_POSTGRESQL_LOCK = 7_302_026  # any number, the same for everybody who migrates


def current_revision(url: str) -> str | None:
    """Where the ledger stands, or nothing when there is none yet; creates nothing."""
    path = _sqlite_path(url)
    if path is not None and not path.exists():
        return None
    with _engine(url) as engine, reading(engine) as connection:
        return _revision_of(connection)


@cache
def head_revision() -> str:
    head = _scripts().get_current_head()
    assert head is not None, "the package holds at least one migration"
    return head


def migrate(url: str) -> None:
    path = _sqlite_path(url)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    with _engine(url) as engine:
        _use_write_ahead_log(engine)
        # The whole upgrade is one transaction under the write lock: a second process waits, then
        # finds nothing left to do, and a crash leaves the ledger as it was.
        with writing(engine) as connection:
            _wait_for_other_migrations(connection)
            refuse_unknown_revision(url, _revision_of(connection))
            command.upgrade(migration_config(connection), "head")


def refuse_unknown_revision(url: str, revision: str | None) -> None:
    if revision is not None and revision not in _known_revisions():
        place = sa.make_url(url).render_as_string(hide_password=True)
        raise SetupIncomplete(
            f"The ledger {place} is at revision {revision}, and this version of the platform knows "
            f"revisions up to {head_revision()} only: a newer version has written it. Install that "
            "version, or point BACKFILL_LEDGER_URL at another ledger."
        )


def migration_config(connection: sa.Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


@cache
def _known_revisions() -> frozenset[str]:
    return frozenset(script.revision for script in _scripts().walk_revisions())


def _scripts() -> ScriptDirectory:
    return ScriptDirectory(str(MIGRATIONS))


def _revision_of(connection: sa.Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _wait_for_other_migrations(connection: sa.Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_POSTGRESQL_LOCK)))


def _use_write_ahead_log(engine: sa.Engine) -> None:
    """Readers never wait for a writer. The file remembers it, so it is set here only."""
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            connection.connection.cursor().execute("PRAGMA journal_mode = WAL")


def _sqlite_path(url: str) -> Path | None:
    parsed = sa.make_url(url)
    return Path(parsed.database or "") if parsed.get_backend_name() == "sqlite" else None


@contextmanager
def _engine(url: str) -> Iterator[sa.Engine]:
    engine = make_engine(url)
    try:
        yield engine
    finally:
        engine.dispose()
