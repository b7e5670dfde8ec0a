"""Runs, events, chunks, measurements, verdicts, publications and accepted outputs.

What must not change is kept by triggers, so that no other program can change it either. The words
in the CHECKs are literal here: a migration says what was true when it was written.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

RUN_STATES = (
    "PLANNED AWAITING_APPROVAL APPROVED STAGING STAGED VALIDATED AWAITING_PUBLISH PUBLISHING "
    "PUBLISHED SUPERSEDED ROLLED_BACK REJECTED FAILED CANCELLED EXPIRED"
)
CHUNK_STATUSES = "CLAIMED STAGED VALIDATED PUBLISHED FAILED REPLACED"
INSTANT = sa.DateTime(timezone=True)
NOT_SUPERSEDED = sa.text("superseded_at IS NULL")


def upgrade() -> None:
    _create_runs()
    _create_chunks()
    _create_publications()
    for table in ("run", "run_event", "publication", "accepted_output"):
        _refuse(f"{table}_is_never_deleted", "DELETE", table, "rows of this table are kept")
    _refuse("run_event_never_changes", "UPDATE", "run_event", "events are append-only")
    _refuse(
        "run_manifest_never_changes",
        "UPDATE OF run_id, origin, manifest_json, manifest_digest",
        "run",
        "a manifest never changes once it is planned",
    )


def downgrade() -> None:
    for table in (
        "accepted_output",
        "publication",
        "verdict",
        "partition_measurement",
        "chunk_run",
        "run_event",
        "run",
    ):
        op.drop_table(table)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION IF EXISTS ledger_refuse() CASCADE")


def _create_runs() -> None:
    op.create_table(
        "run",
        sa.Column("run_id", sa.String(120), nullable=False),
        sa.Column("group_id", sa.String(200), nullable=False),
        sa.Column("origin", sa.String(400), nullable=False),
        sa.Column("table_name", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("mode", sa.String(40), nullable=False),
        sa.Column("transform_version", sa.String(40), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("manifest_json", sa.Text, nullable=False),
        sa.Column("manifest_digest", sa.String(64), nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("planned_at", INSTANT, nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.Column("superseded_by_run_id", sa.String(120)),
        sa.PrimaryKeyConstraint("run_id", name="pk_run"),
        sa.UniqueConstraint("origin", name="uq_run_origin"),
        sa.ForeignKeyConstraint(
            ["superseded_by_run_id"], ["run.run_id"], name="fk_run_superseded_by_run_id"
        ),
        _one_of("ck_run_state", "state", RUN_STATES),
    )
    op.create_index("ix_run_group_id", "run", ["group_id"])
    op.create_index("ix_run_table_name_planned_at", "run", ["table_name", "planned_at"])
    op.create_table(
        "run_event",
        sa.Column("run_id", sa.String(120), nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("from_state", sa.String(40)),
        sa.Column("to_state", sa.String(40), nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("previous_hash", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "seq", name="pk_run_event"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_run_event_run_id"),
    )


def _create_chunks() -> None:
    op.create_table(
        "chunk_run",
        sa.Column("run_id", sa.String(120), nullable=False),
        sa.Column("chunk_id", sa.String(40), nullable=False),
        sa.Column("start_day", sa.Date, nullable=False),
        sa.Column("end_day_exclusive", sa.Date, nullable=False),
        sa.Column("status", sa.String(40), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("worker", sa.String(200), nullable=False),
        sa.Column("fencing_token", sa.BigInteger, nullable=False),
        sa.Column("lease_expires_at", INSTANT, nullable=False),
        sa.Column("input_count", sa.BigInteger),
        sa.Column("output_count", sa.BigInteger),
        sa.Column("checksum", sa.String(200)),
        sa.Column("started_at", INSTANT, nullable=False),
        sa.Column("finished_at", INSTANT),
        sa.Column("error", sa.Text),
        sa.PrimaryKeyConstraint("run_id", "chunk_id", name="pk_chunk_run"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_chunk_run_run_id"),
        _one_of("ck_chunk_run_status", "status", CHUNK_STATUSES),
        sa.CheckConstraint("start_day < end_day_exclusive", name=op.f("ck_chunk_run_days")),
    )
    op.create_table(
        "partition_measurement",
        sa.Column("run_id", sa.String(120), nullable=False),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("chunk_id", sa.String(40), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("row_count", sa.BigInteger, nullable=False),
        sa.Column("checksum", sa.String(200), nullable=False),
        sa.Column("numbers", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "day", name="pk_partition_measurement"),
        sa.ForeignKeyConstraint(
            ["run_id", "chunk_id"],
            ["chunk_run.run_id", "chunk_run.chunk_id"],
            name="fk_partition_measurement_run_id_chunk_id",
        ),
    )
    op.create_table(
        "verdict",
        sa.Column("run_id", sa.String(120), nullable=False),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("gate", sa.String(60), nullable=False),
        sa.Column("outcome", sa.String(40), nullable=False),
        sa.Column("expected", sa.Text, nullable=False),
        sa.Column("found", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("judged_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "day", "gate", name="pk_verdict"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_verdict_run_id"),
        _one_of("ck_verdict_outcome", "outcome", "PASSED FAILED"),
    )


def _create_publications() -> None:
    op.create_table(
        "publication",
        sa.Column("publication_id", sa.String(200), nullable=False),
        sa.Column("run_id", sa.String(120), nullable=False),
        sa.Column("table_name", sa.String(200), nullable=False),
        sa.Column("days", sa.Text, nullable=False),
        sa.Column("intent_at", INSTANT, nullable=False),
        sa.Column("intent", sa.Text, nullable=False),
        sa.Column("fact_at", INSTANT),
        sa.Column("version", sa.BigInteger),
        sa.Column("outcome", sa.String(40)),
        sa.PrimaryKeyConstraint("publication_id", name="pk_publication"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_publication_run_id"),
        _one_of("ck_publication_outcome", "outcome", "LANDED GIVEN_UP"),
        sa.CheckConstraint(
            "(fact_at IS NULL) = (outcome IS NULL)", name=op.f("ck_publication_fact")
        ),
    )
    op.create_index("ix_publication_run_id", "publication", ["run_id"])
    op.create_table(
        "accepted_output",
        sa.Column("table_name", sa.String(200), nullable=False),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("publication_id", sa.String(200), nullable=False),
        sa.Column("run_id", sa.String(120), nullable=False),
        sa.Column("row_count", sa.BigInteger, nullable=False),
        sa.Column("checksum", sa.String(200), nullable=False),
        sa.Column("target_version", sa.BigInteger, nullable=False),
        sa.Column("accepted_at", INSTANT, nullable=False),
        sa.Column("superseded_at", INSTANT),
        sa.Column("superseded_by_run_id", sa.String(120)),
        sa.PrimaryKeyConstraint("table_name", "day", "publication_id", name="pk_accepted_output"),
        sa.ForeignKeyConstraint(
            ["publication_id"],
            ["publication.publication_id"],
            name="fk_accepted_output_publication_id",
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_accepted_output_run_id"),
        sa.ForeignKeyConstraint(
            ["superseded_by_run_id"],
            ["run.run_id"],
            name="fk_accepted_output_superseded_by_run_id",
        ),
    )
    op.create_index("ix_accepted_output_run_id", "accepted_output", ["run_id"])
    op.create_index(
        "uq_accepted_output_current",
        "accepted_output",
        ["table_name", "day"],
        unique=True,
        sqlite_where=NOT_SUPERSEDED,
        postgresql_where=NOT_SUPERSEDED,
    )


def _one_of(name: str, column: str, words: str) -> sa.CheckConstraint:
    allowed = ", ".join(f"'{word}'" for word in words.split())
    return sa.CheckConstraint(f"{column} IN ({allowed})", name=op.f(name))


def _refuse(name: str, what: str, table: str, why: str) -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {what} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table}: {why}'); END"
        )
        return
    op.execute(
        "CREATE OR REPLACE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION USING MESSAGE = TG_TABLE_NAME || ': ' || TG_ARGV[0], "
        "ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {name} BEFORE {what} ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION ledger_refuse('{why}')"
    )
