"""Findings: gaps that were seen, and what was reported of them, and ways to find runs and
publications of a table that do not take longer the more of them there are.

A finding is no evidence but a note of what a look at the tables said, so it may be written anew.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
KINDS = (
    "MISSING_PARTITION INPUT_AHEAD RUN_ENDED INPUT_MISSING TOO_FEW_ROWS LATE_DATA "
    "UNEXPLAINED_COMMIT"
)
LASTING = sa.text("resolved_at IS NULL")


def upgrade() -> None:
    kinds = ", ".join(f"'{kind}'" for kind in KINDS.split())
    op.create_table(
        "finding",
        sa.Column("key", sa.String(300), nullable=False),
        sa.Column("table_name", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("days", sa.Text),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("first_seen_at", INSTANT, nullable=False),
        sa.Column("last_seen_at", INSTANT, nullable=False),
        sa.Column("resolved_at", INSTANT),
        sa.Column("reported_at", INSTANT),
        sa.Column("reported_digest", sa.String(64)),
        sa.Column("reported_why", sa.Text),
        sa.Column("refused_at", INSTANT),
        sa.PrimaryKeyConstraint("key", name="pk_finding"),
        sa.CheckConstraint(f"kind IN ({kinds})", name=op.f("ck_finding_kind")),
        sa.CheckConstraint(
            "(reported_at IS NULL) = (reported_digest IS NULL)", name=op.f("ck_finding_report")
        ),
    )
    op.create_index(
        "ix_finding_lasting",
        "finding",
        ["table_name"],
        sqlite_where=LASTING,
        postgresql_where=LASTING,
    )
    op.create_index(
        "ix_run_table_name_state_planned_at", "run", ["table_name", "state", "planned_at"]
    )
    op.create_index("ix_publication_table_name_version", "publication", ["table_name", "version"])


def downgrade() -> None:
    op.drop_index("ix_publication_table_name_version", "publication")
    op.drop_index("ix_run_table_name_state_planned_at", "run")
    op.drop_table("finding")
