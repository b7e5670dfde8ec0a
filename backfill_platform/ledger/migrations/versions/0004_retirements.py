"""Retirements: which files were removed, under which policy, by whom.

An audit reads them when the files are gone, so the database keeps them whatever program writes: a
row is never taken away, what was intended never changes, and what is finished is finished.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
KEPT = "rows of this table are kept"
INTENDED = "retirement_id, table_name, number, actor, policy_digest, intended_at, intent"


def upgrade() -> None:
    op.create_table(
        "retirement",
        sa.Column("retirement_id", sa.String(220), nullable=False),
        sa.Column("table_name", sa.String(200), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("policy_digest", sa.String(64), nullable=False),
        sa.Column("intended_at", INSTANT, nullable=False),
        sa.Column("intent", sa.Text, nullable=False),
        sa.Column("finished_at", INSTANT),
        sa.Column("spared", sa.Text),
        sa.PrimaryKeyConstraint("retirement_id", name="pk_retirement"),
        sa.UniqueConstraint("table_name", "number", name="uq_retirement_table_name_number"),
        sa.CheckConstraint(
            "(finished_at IS NULL) = (spared IS NULL)", name=op.f("ck_retirement_fact")
        ),
    )
    _refuse("retirement_is_never_deleted", "DELETE", KEPT)
    _refuse("retirement_intent_never_changes", f"UPDATE OF {INTENDED}", "an intention is kept")
    _refuse("retirement_ends_once", "UPDATE", "it has ended", when="OLD.finished_at IS NOT NULL")
    if _is_sqlite():
        numbered = "kept.table_name = NEW.table_name AND kept.number = NEW.number"
        same = f"kept.retirement_id = NEW.retirement_id OR ({numbered})"
        _refuse(
            "retirement_is_never_replaced",
            "INSERT",
            KEPT,
            when=f"EXISTS (SELECT 1 FROM retirement AS kept WHERE {same})",
        )
    else:
        op.execute(
            "CREATE TRIGGER retirement_is_never_truncated BEFORE TRUNCATE ON retirement "
            f"FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse('{KEPT}')"
        )


def downgrade() -> None:
    op.drop_table("retirement")


def _refuse(name: str, what: str, why: str, *, when: str = "") -> None:
    condition = f"WHEN ({when}) " if when else ""
    if _is_sqlite():
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {what} ON retirement {condition}"
            f"BEGIN SELECT RAISE(ABORT, 'retirement: {why}'); END"
        )
        return
    op.execute(
        f"CREATE TRIGGER {name} BEFORE {what} ON retirement "
        f"FOR EACH ROW {condition}EXECUTE FUNCTION ledger_refuse('{why}')"
    )


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"
