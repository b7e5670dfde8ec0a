"""Approvals, the days that a run holds, and a database that refuses illegal moves of a state.

The pairs of states are literal here: a migration says what was true when it was written, and
test_the_database_refuses_every_illegal_move compares them with the domain.
"""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
ENDS = "REJECTED CANCELLED EXPIRED"
MOVES = {
    "PLANNED": f"AWAITING_APPROVAL APPROVED {ENDS}",
    "AWAITING_APPROVAL": f"APPROVED {ENDS}",
    "APPROVED": f"STAGING {ENDS}",
    "STAGING": f"STAGED FAILED {ENDS}",
    "STAGED": f"VALIDATED FAILED {ENDS}",
    "VALIDATED": f"AWAITING_PUBLISH PUBLISHING {ENDS}",
    "AWAITING_PUBLISH": f"VALIDATED PUBLISHING {ENDS}",
    "PUBLISHING": "PUBLISHED VALIDATED",
    "PUBLISHED": "SUPERSEDED ROLLED_BACK",
    "FAILED": f"STAGING {ENDS}",
}
PLANNED_COLUMNS = (
    "group_id, table_name, kind, mode, transform_version, actor, reason, planned_at, days, "
    "valid_until"
)
# Rows that no statement may take away or write over, and what makes two of them the same row.
KEPT = {
    "run": ("run_id", "origin"),
    "run_event": ("run_id, seq",),
    "approval": ("approval_id", "run_id, manifest_digest, principal, decision, decided_at"),
}
TRUNCATED = ("run", "run_event", "approval", "publication", "accepted_output")

run = sa.table(
    "run",
    sa.column("run_id"),
    sa.column("manifest_json"),
    sa.column("days"),
    sa.column("valid_until", INSTANT),
)


def upgrade() -> None:
    op.add_column("run", sa.Column("days", sa.Text))
    op.add_column("run", sa.Column("valid_until", INSTANT))
    _read_days_from_manifests()
    _create_approval()
    _refuse("approval_is_never_deleted", "DELETE", "approval", "rows of this table are kept")
    _refuse("approval_never_changes", "UPDATE", "approval", "a decision never changes")
    _refuse("run_plan_never_changes", f"UPDATE OF {PLANNED_COLUMNS}", "run", "a plan is kept")
    _refuse(
        "run_moves_legally",
        "UPDATE OF state",
        "run",
        "its state may not be left that way",
        when=f"(OLD.state || '>' || NEW.state) NOT IN ({_pairs()})",
    )
    _refuse(
        "run_begins_planned",
        "INSERT",
        "run",
        "a run begins as PLANNED",
        when="NEW.state <> 'PLANNED'",
    )
    if _is_sqlite():
        _refuse_to_replace()
    else:
        _refuse_to_truncate()


def downgrade() -> None:
    names = ("run_begins_planned", "run_moves_legally", "run_plan_never_changes")
    if _is_sqlite():
        for name in (*names, "run_is_never_replaced", "run_event_is_never_replaced"):
            op.execute(f"DROP TRIGGER {name}")
    else:
        for name in names:
            op.execute(f"DROP TRIGGER {name} ON run")
        for table in TRUNCATED:
            op.execute(f"DROP TRIGGER {table}_is_never_truncated ON {table}")
    op.drop_table("approval")
    op.drop_column("run", "valid_until")
    op.drop_column("run", "days")


def _create_approval() -> None:
    op.create_table(
        "approval",
        sa.Column("approval_id", sa.String(64), nullable=False),
        sa.Column("run_id", sa.String(120), nullable=False),
        sa.Column("manifest_digest", sa.String(64), nullable=False),
        sa.Column("principal", sa.String(200), nullable=False),
        sa.Column("role", sa.String(200), nullable=False),
        sa.Column("decision", sa.String(40), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("decided_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.Column("signature", sa.Text),
        sa.PrimaryKeyConstraint("approval_id", name="pk_approval"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_approval_run_id"),
        sa.UniqueConstraint(
            "run_id",
            "manifest_digest",
            "principal",
            "decision",
            "decided_at",
            name="uq_approval_decided",
        ),
        sa.CheckConstraint(
            "decision IN ('APPROVED', 'REJECTED')", name=op.f("ck_approval_decision")
        ),
    )


def _read_days_from_manifests() -> None:
    """What cannot be read stays empty; such a run holds every day for as long as it is open."""
    connection = op.get_bind()
    for row in connection.execute(sa.select(run.c.run_id, run.c.manifest_json)).all():
        values = _planned(row.manifest_json)
        if values:
            connection.execute(run.update().where(run.c.run_id == row.run_id).values(**values))


def _planned(manifest_json: str) -> dict[str, Any]:
    try:
        document = json.loads(manifest_json)
        partitions = document["target"]["partitions"]
        is_list = isinstance(partitions, list)  # as the first format had it
        until = document.get("valid_until")
        return {
            "days": _written(partitions if is_list else partitions["ranges"]),
            "valid_until": datetime.fromisoformat(until).astimezone(UTC) if until else None,
        }
    except (KeyError, TypeError, ValueError):
        return {}


def _written(ranges: list[dict[str, str]]) -> str:
    """`2025-01-01..2025-01-31, 2025-03-01`, both ends included."""
    parts: list[str] = []
    for days in ranges:
        first = date.fromisoformat(days["start"])
        last = date.fromisoformat(days["end_exclusive"]) - timedelta(days=1)
        parts.append(f"{first}" if first == last else f"{first}..{last}")
    return ", ".join(parts)


def _pairs() -> str:
    return ", ".join(
        f"'{state}>{following}'" for state, words in MOVES.items() for following in words.split()
    )


def _refuse_to_replace() -> None:
    """SQLite's INSERT OR REPLACE takes the old row away without asking a DELETE trigger."""
    for table, keys in KEPT.items():
        same = " OR ".join(_is_same_row(key) for key in keys)
        _refuse(
            f"{table}_is_never_replaced",
            "INSERT",
            table,
            "rows of this table are kept",
            when=f"EXISTS (SELECT 1 FROM {table} AS kept WHERE {same})",
        )


def _is_same_row(key: str) -> str:
    columns = key.split(", ")
    return "(" + " AND ".join(f"kept.{column} = NEW.{column}" for column in columns) + ")"


def _refuse_to_truncate() -> None:
    """PostgreSQL's TRUNCATE asks no trigger of a row."""
    for table in TRUNCATED:
        op.execute(
            f"CREATE TRIGGER {table}_is_never_truncated BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse('rows of this table are kept')"
        )


def _refuse(name: str, what: str, table: str, why: str, *, when: str = "") -> None:
    condition = f"WHEN ({when}) " if when else ""
    if _is_sqlite():
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {what} ON {table} {condition}"
            f"BEGIN SELECT RAISE(ABORT, '{table}: {why}'); END"
        )
        return
    op.execute(
        f"CREATE TRIGGER {name} BEFORE {what} ON {table} "
        f"FOR EACH ROW {condition}EXECUTE FUNCTION ledger_refuse('{why}')"
    )


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"
