"""Alerts, and the messages about them that wait to be delivered.

Three indexes beside them: how runs stand, which verdicts stray and which publications are open is
asked every half minute, and must not take longer the more there was.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
KINDS = "RUN_FAILED DUPLICATES_FOUND APPROVAL_WAITING GAP_NOT_REPAIRABLE NOT_FRESH RECOVERY_FAILED"
SEVERITIES = "CRITICAL WARNING"
EVENTS = "OPENED CHANGED REMINDED RESOLVED TESTED"


def upgrade() -> None:
    _create_alert()
    _create_delivery()
    op.create_index("ix_run_state_updated_at", "run", ["state", "updated_at"])
    _index_some("ix_verdict_strayed", "verdict", ["run_id", "gate"], "outcome <> 'PASSED'")
    _index_some("ix_publication_open", "publication", ["intent_at"], "fact_at IS NULL")


def downgrade() -> None:
    op.drop_index("ix_publication_open", "publication")
    op.drop_index("ix_verdict_strayed", "verdict")
    op.drop_index("ix_run_state_updated_at", "run")
    op.drop_table("alert_delivery")
    op.drop_table("alert")


def _create_alert() -> None:
    op.create_table(
        "alert",
        sa.Column("alert_key", sa.String(400), nullable=False),
        sa.Column("opened_at", INSTANT, nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("subject", sa.String(320), nullable=False),
        sa.Column("table_name", sa.String(200), nullable=False),
        sa.Column("severity", sa.String(40), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("seen_at", INSTANT, nullable=False),
        sa.Column("told_at", INSTANT, nullable=False),
        sa.Column("resolved_at", INSTANT),
        sa.PrimaryKeyConstraint("alert_key", "opened_at", name="pk_alert"),
        _one_of("alert", "kind", KINDS),
        _one_of("alert", "severity", SEVERITIES),
    )
    op.create_index("ix_alert_resolved_at", "alert", ["resolved_at"])
    _index_some("uq_alert_open", "alert", ["alert_key"], "resolved_at IS NULL", unique=True)


def _create_delivery() -> None:
    op.create_table(
        "alert_delivery",
        sa.Column("delivery_id", sa.String(32), nullable=False),
        sa.Column("alert_key", sa.String(400), nullable=False),
        sa.Column("opened_at", INSTANT, nullable=False),
        sa.Column("event", sa.String(40), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("channel", sa.String(100), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_attempt_at", INSTANT, nullable=False),
        sa.Column("delivered_at", INSTANT),
        sa.Column("error", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("delivery_id", name="pk_alert_delivery"),
        sa.ForeignKeyConstraint(
            ["alert_key", "opened_at"],
            ["alert.alert_key", "alert.opened_at"],
            name="fk_alert_delivery_alert_key_opened_at",
        ),
        _one_of("alert_delivery", "event", EVENTS),
    )
    op.create_index(
        "ix_alert_delivery_alert_key_opened_at", "alert_delivery", ["alert_key", "opened_at"]
    )
    _index_some(
        "ix_alert_delivery_waiting",
        "alert_delivery",
        ["next_attempt_at"],
        "delivered_at IS NULL",
    )


def _one_of(table: str, column: str, words: str) -> sa.CheckConstraint:
    allowed = ", ".join(f"'{word}'" for word in words.split())
    return sa.CheckConstraint(f"{column} IN ({allowed})", name=op.f(f"ck_{table}_{column}"))


def _index_some(
    name: str, table: str, columns: list[str], condition: str, *, unique: bool = False
) -> None:
    only = sa.text(condition)
    op.create_index(name, table, columns, unique=unique, sqlite_where=only, postgresql_where=only)
