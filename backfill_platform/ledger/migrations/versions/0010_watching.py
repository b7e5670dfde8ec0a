"""Indexes for those who watch: what has lately landed or is still open.

Without them each look would read all that ever was.
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

INDEXES = {
    "chunk_run": ("status", "lease_expires_at"),
    "publication": ("fact_at", "publication_id"),
}


def upgrade() -> None:
    for table, columns in INDEXES.items():
        op.create_index(_name(table), table, list(columns))


def downgrade() -> None:
    for table in INDEXES:
        op.drop_index(_name(table), table_name=table)


def _name(table: str) -> str:
    return f"ix_{table}_{'_'.join(INDEXES[table])}"
