"""A way to the newest runs of all tables: without it a list of them sorts all that ever were."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

INDEX = "ix_run_planned_at_run_id"


def upgrade() -> None:
    op.create_index(INDEX, "run", ["planned_at", "run_id"])


def downgrade() -> None:
    op.drop_index(INDEX, table_name="run")
