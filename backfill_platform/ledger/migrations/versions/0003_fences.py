"""Fences, which keep live writers out of partitions while a run publishes them.

Their tokens grow because no row is ever deleted; a table that is emptied would begin again at 1.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
TRIGGER = "fence_is_never_deleted"
WHY = "rows of this table are kept"


def upgrade() -> None:
    op.create_table(
        "fence",
        sa.Column("table_name", sa.String(200), nullable=False),
        sa.Column("token", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("run_id", sa.String(120), nullable=False),
        sa.Column("days", sa.Text, nullable=False),
        sa.Column("acquired_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.Column("released_at", INSTANT),
        sa.PrimaryKeyConstraint("table_name", "token", name="pk_fence"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_fence_run_id"),
    )
    if _is_sqlite():
        op.execute(
            f"CREATE TRIGGER {TRIGGER} BEFORE DELETE ON fence "
            f"BEGIN SELECT RAISE(ABORT, 'fence: {WHY}'); END"
        )
    else:
        op.execute(
            f"CREATE TRIGGER {TRIGGER} BEFORE DELETE ON fence "
            f"FOR EACH ROW EXECUTE FUNCTION ledger_refuse('{WHY}')"
        )


def downgrade() -> None:
    op.drop_table("fence")


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"
