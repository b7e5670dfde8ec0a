"""Changes a ledger as somebody would who owns the database: the triggers go first."""

from typing import Any

import sqlalchemy as sa

from backfill_platform.ledger.database import opened, writing

TRIGGERS = {
    "sqlite": "SELECT name, NULL FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": (
        "SELECT tgname, relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
        "WHERE NOT tgisinternal"
    ),
}


def tamper(url: str, *statements: str, **values: Any) -> None:
    with opened(url) as engine, writing(engine) as connection:
        for name, table in connection.execute(sa.text(TRIGGERS[engine.dialect.name])).all():
            connection.execute(sa.text(f"DROP TRIGGER {name}" + (f" ON {table}" if table else "")))
        for statement in statements:
            connection.execute(sa.text(statement), values)
