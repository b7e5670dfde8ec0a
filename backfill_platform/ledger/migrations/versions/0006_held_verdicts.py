"""Verdicts that warn or hold, and the figures that a verdict rests on.

A version before this one has no word for them. Going back, both become negative: it would publish
what it takes for passed, and nobody may have reviewed it.
"""

import sqlalchemy as sa
from alembic import op
from alembic.operations import BatchOperations

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

CHECK = "ck_verdict_outcome"
BEFORE = "PASSED FAILED"
SINCE = "PASSED WARNED HELD FAILED"


def upgrade() -> None:
    with op.batch_alter_table("verdict") as verdict:
        _allow(verdict, SINCE)
        # Nothing in a row from before: what its figures were is only told in its sentences.
        verdict.add_column(sa.Column("figures", sa.Text))


def downgrade() -> None:
    op.execute("UPDATE verdict SET outcome = 'FAILED' WHERE outcome IN ('WARNED', 'HELD')")
    with op.batch_alter_table("verdict") as verdict:
        _allow(verdict, BEFORE)
        verdict.drop_column("figures")


def _allow(verdict: BatchOperations, outcomes: str) -> None:
    allowed = ", ".join(f"'{word}'" for word in outcomes.split())
    verdict.drop_constraint(op.f(CHECK), type_="check")
    verdict.create_check_constraint(op.f(CHECK), f"outcome IN ({allowed})")
