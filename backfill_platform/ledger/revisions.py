"""Which revision a ledger's schema is at, and which ones this version of the platform knows.

Alembic applies them, in `migrate`; whoever only opens a ledger reads here and does not wait for
Alembic's import. The names stand here once more for that (test_the_known_revisions_are_alembics).
"""

from pathlib import Path

import sqlalchemy as sa

from backfill_platform.domain.errors import SetupIncomplete
from backfill_platform.ledger.database import opened, reading

KNOWN_REVISIONS = tuple(f"{number:04}" for number in range(1, 13))

_VERSION_TABLE = "alembic_version"
_version = sa.table(_VERSION_TABLE, sa.column("version_num"))


def head_revision() -> str:
    return KNOWN_REVISIONS[-1]


def current_revision(url: str) -> str | None:
    """Where the ledger stands, or nothing when there is none yet; creates nothing."""
    path = sqlite_path(url)
    if path is not None and not path.exists():
        return None
    with opened(url) as engine, reading(engine) as connection:
        return read_revision(connection)


def read_revision(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table(_VERSION_TABLE):
        return None
    return connection.scalar(sa.select(_version.c.version_num))


def refuse_unknown_revision(url: str, revision: str | None) -> None:
    if revision is not None and revision not in KNOWN_REVISIONS:
        place = sa.make_url(url).render_as_string(hide_password=True)
        raise SetupIncomplete(
            f"The ledger {place} is at revision {revision}, and this version of the platform knows "
            f"revisions up to {head_revision()} only: a newer version has written it. Install that "
            "version, or point BACKFILL_LEDGER_URL at another ledger."
        )


def sqlite_path(url: str) -> Path | None:
    parsed = sa.make_url(url)
    return Path(parsed.database or "") if parsed.get_backend_name() == "sqlite" else None
