"""What lineage has not been told of yet. It begins here: nothing older is told by itself."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

POSITION = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "lineage_due",
        sa.Column("position", POSITION, autoincrement=True, nullable=False),
        sa.Column("run_id", sa.String(120), nullable=False),
        sa.Column("seq", sa.Integer),
        sa.Column("chunk_id", sa.String(40)),
        sa.Column("attempt", sa.Integer),
        sa.Column("status", sa.String(40)),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("position", name="pk_lineage_due"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_lineage_due_run_id"),
        sa.CheckConstraint(
            "(seq IS NULL) = (chunk_id IS NOT NULL)", name=op.f("ck_lineage_due_subject")
        ),
    )


def downgrade() -> None:
    op.drop_table("lineage_due")
