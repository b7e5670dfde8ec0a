"""Deliveries: events of a publication that are told on a topic, intended before and told after.

What was intended decides where a topic is looked at after a crash, so it never changes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
KEPT = "rows of this table are kept"
INTENDED = "delivery_id, run_id, topic, events_count, starts, intended_at"


def upgrade() -> None:
    op.create_table(
        "delivery",
        sa.Column("delivery_id", sa.String(200), nullable=False),
        sa.Column("run_id", sa.String(120), nullable=False),
        sa.Column("topic", sa.String(250), nullable=False),
        sa.Column("events_count", sa.BigInteger, nullable=False),
        sa.Column("starts", sa.Text, nullable=False),
        sa.Column("intended_at", INSTANT, nullable=False),
        sa.Column("told_at", INSTANT),
        sa.Column("ends", sa.Text),
        sa.PrimaryKeyConstraint("delivery_id", name="pk_delivery"),
        sa.ForeignKeyConstraint(
            ["delivery_id"], ["publication.publication_id"], name="fk_delivery_delivery_id"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_delivery_run_id"),
        sa.CheckConstraint("(told_at IS NULL) = (ends IS NULL)", name=op.f("ck_delivery_fact")),
    )
    op.create_index("ix_delivery_run_id", "delivery", ["run_id"])
    _refuse("delivery_is_never_deleted", "DELETE", KEPT)
    _refuse("delivery_intent_never_changes", f"UPDATE OF {INTENDED}", "an intention is kept")
    _refuse("delivery_is_told_once", "UPDATE", "it was told", when="OLD.told_at IS NOT NULL")


def downgrade() -> None:
    op.drop_table("delivery")


def _refuse(name: str, what: str, why: str, *, when: str = "") -> None:
    condition = f"WHEN ({when}) " if when else ""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {what} ON delivery {condition}"
            f"BEGIN SELECT RAISE(ABORT, 'delivery: {why}'); END"
        )
        return
    op.execute(
        f"CREATE TRIGGER {name} BEFORE {what} ON delivery "
        f"FOR EACH ROW {condition}EXECUTE FUNCTION ledger_refuse('{why}')"
    )
