"""Counts that only grow, and an index that runs are counted by.

Counting begins here: of what was done before, nothing is counted. Runs are counted by state from
the index alone, so that counting them reads no manifests.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

COUNTED = (
    "input_rows output_rows rejected_rows chunks strayed_verdicts planned_microdollars "
    "computed_microdollars chunks_by_seconds chunk_milliseconds writes_by_milliseconds "
    "write_milliseconds commits_by_seconds commit_milliseconds"
)


def upgrade() -> None:
    counted = ", ".join(f"'{word}'" for word in COUNTED.split())
    op.create_table(
        "tally",
        sa.Column("counted", sa.String(40), nullable=False),
        sa.Column("table_name", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("mode", sa.String(40), nullable=False),
        sa.Column("word", sa.String(120), nullable=False),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("counted", "table_name", "kind", "mode", "word", name="pk_tally"),
        sa.CheckConstraint(f"counted IN ({counted})", name=op.f("ck_tally_counted")),
    )
    op.create_index("ix_run_state_table_name_kind", "run", ["state", "table_name", "kind"])


def downgrade() -> None:
    op.drop_index("ix_run_state_table_name_kind", "run")
    op.drop_table("tally")
