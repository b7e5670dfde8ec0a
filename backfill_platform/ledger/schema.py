"""The ledger's tables as they are now. Migrations lead here; a test finds any difference.

`run` is a projection for quick reading; `run_event` is the truth. What must not change is kept by
triggers, which stand in the migrations.
"""

from collections.abc import Iterable
from enum import StrEnum

import sqlalchemy as sa

from backfill_platform.domain.alerts import AlertEvent, AlertKind, AlertSeverity
from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.gaps import GapKind
from backfill_platform.domain.ledger_figures import Counted
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.runs import PublicationFact
from backfill_platform.domain.verdicts import Outcome
from backfill_platform.ledger.column_types import CanonicalJson, Days, PlainJson, UtcInstant

STRAYED = "outcome <> 'PASSED'"  # of verdicts
UNSETTLED = "fact_at IS NULL"  # of intents to publish
UNRESOLVED = "resolved_at IS NULL"  # of alerts
UNDELIVERED = "delivered_at IS NULL"  # of messages

# Constraints need names before a later migration can drop them.
metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _one_of(column: str, words: Iterable[StrEnum]) -> sa.CheckConstraint:
    allowed = ", ".join(f"'{word.value}'" for word in words)
    return sa.CheckConstraint(f"{column} IN ({allowed})", name=column)


def _some(name: str, condition: str, *columns: str) -> sa.Index:
    """Of the few rows alone that somebody looks for again and again. A query uses it where it says
    the condition in the same words."""
    only = sa.text(condition)
    return sa.Index(name, *columns, sqlite_where=only, postgresql_where=only)


run = sa.Table(
    "run",
    metadata,
    sa.Column("run_id", sa.String(120), primary_key=True),
    sa.Column("group_id", sa.String(200), nullable=False, index=True),
    sa.Column("origin", sa.String(400), nullable=False, unique=True),
    sa.Column("table_name", sa.String(200), nullable=False),
    sa.Column("kind", sa.String(40), nullable=False),
    sa.Column("mode", sa.String(40), nullable=False),
    sa.Column("transform_version", sa.String(40), nullable=False),
    sa.Column("state", sa.String(40), nullable=False),
    sa.Column("manifest_json", sa.Text, nullable=False),
    sa.Column("manifest_digest", sa.String(64), nullable=False),
    sa.Column("actor", sa.String(200), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("planned_at", UtcInstant, nullable=False),
    sa.Column("updated_at", UtcInstant, nullable=False),
    sa.Column("superseded_by_run_id", sa.ForeignKey("run.run_id")),
    sa.Column("days", Days),  # nothing in a row from before these were kept
    sa.Column("valid_until", UtcInstant),
    _one_of("state", RunState),
    sa.Index(None, "table_name", "planned_at"),
    sa.Index(None, "planned_at", "run_id"),  # the newest of all tables
    sa.Index(None, "state", "updated_at"),  # however many runs there were, few stand like that
    sa.Index(None, "state", "table_name", "kind"),
    sa.Index(None, "table_name", "state", "planned_at"),
)

run_event = sa.Table(
    "run_event",
    metadata,
    sa.Column("run_id", sa.ForeignKey("run.run_id"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("actor", sa.String(200), nullable=False),
    sa.Column("at", UtcInstant, nullable=False),
    sa.Column("cause", sa.Text, nullable=False),
    sa.Column("from_state", sa.String(40)),
    sa.Column("to_state", sa.String(40), nullable=False),
    sa.Column("details", CanonicalJson, nullable=False),
    sa.Column("previous_hash", sa.String(64), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)

approval = sa.Table(
    "approval",
    metadata,
    sa.Column("approval_id", sa.String(64), primary_key=True),
    sa.Column("run_id", sa.ForeignKey("run.run_id"), nullable=False),
    sa.Column("manifest_digest", sa.String(64), nullable=False),
    sa.Column("principal", sa.String(200), nullable=False),
    sa.Column("role", sa.String(200), nullable=False),
    sa.Column("decision", sa.String(40), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("decided_at", UtcInstant, nullable=False),
    sa.Column("expires_at", UtcInstant, nullable=False),
    sa.Column("signature", sa.Text),
    _one_of("decision", Decision),
    sa.UniqueConstraint(
        "run_id",
        "manifest_digest",
        "principal",
        "decision",
        "decided_at",
        name="uq_approval_decided",
    ),
)

chunk_run = sa.Table(
    "chunk_run",
    metadata,
    sa.Column("run_id", sa.ForeignKey("run.run_id"), primary_key=True),
    sa.Column("chunk_id", sa.String(40), primary_key=True),
    sa.Column("start_day", sa.Date, nullable=False),
    sa.Column("end_day_exclusive", sa.Date, nullable=False),
    sa.Column("status", sa.String(40), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("worker", sa.String(200), nullable=False),
    sa.Column("fencing_token", sa.BigInteger, nullable=False),
    sa.Column("lease_expires_at", UtcInstant, nullable=False),
    sa.Column("input_count", sa.BigInteger),
    sa.Column("output_count", sa.BigInteger),
    sa.Column("checksum", sa.String(200)),
    sa.Column("started_at", UtcInstant, nullable=False),
    sa.Column("finished_at", UtcInstant),
    sa.Column("error", sa.Text),
    _one_of("status", ChunkStatus),
    sa.CheckConstraint("start_day < end_day_exclusive", name="days"),
    sa.Index(None, "status", "lease_expires_at"),
)

partition_measurement = sa.Table(
    "partition_measurement",
    metadata,
    sa.Column("run_id", sa.String(120), primary_key=True),
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("chunk_id", sa.String(40), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("row_count", sa.BigInteger, nullable=False),
    sa.Column("checksum", sa.String(200), nullable=False),
    sa.Column("numbers", PlainJson, nullable=False),
    sa.ForeignKeyConstraint(["run_id", "chunk_id"], ["chunk_run.run_id", "chunk_run.chunk_id"]),
)

verdict = sa.Table(
    "verdict",
    metadata,
    sa.Column("run_id", sa.ForeignKey("run.run_id"), primary_key=True),
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("gate", sa.String(60), primary_key=True),
    sa.Column("outcome", sa.String(40), nullable=False),
    sa.Column("expected", sa.Text, nullable=False),
    sa.Column("found", sa.Text, nullable=False),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("judged_at", UtcInstant, nullable=False),
    sa.Column("figures", PlainJson),  # nothing in a row from before these were kept
    _one_of("outcome", Outcome),
    _some("ix_verdict_strayed", STRAYED, "run_id", "gate"),
)

publication = sa.Table(
    "publication",
    metadata,
    sa.Column("publication_id", sa.String(200), primary_key=True),
    sa.Column("run_id", sa.ForeignKey("run.run_id"), nullable=False, index=True),
    sa.Column("table_name", sa.String(200), nullable=False),
    sa.Column("days", CanonicalJson, nullable=False),
    sa.Column("intent_at", UtcInstant, nullable=False),
    sa.Column("intent", CanonicalJson, nullable=False),
    sa.Column("fact_at", UtcInstant),
    sa.Column("version", sa.BigInteger),
    sa.Column("outcome", sa.String(40)),
    _one_of("outcome", PublicationFact),
    sa.CheckConstraint("(fact_at IS NULL) = (outcome IS NULL)", name="fact"),
    _some("ix_publication_open", UNSETTLED, "intent_at"),
    sa.Index(None, "fact_at", "publication_id"),
    sa.Index(None, "table_name", "version"),
)

fence = sa.Table(
    "fence",
    metadata,
    sa.Column("table_name", sa.String(200), primary_key=True),
    sa.Column("token", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("run_id", sa.ForeignKey("run.run_id"), nullable=False),
    sa.Column("days", Days, nullable=False),
    sa.Column("acquired_at", UtcInstant, nullable=False),
    sa.Column("expires_at", UtcInstant, nullable=False),
    sa.Column("released_at", UtcInstant),
)

retirement = sa.Table(
    "retirement",
    metadata,
    sa.Column("retirement_id", sa.String(220), primary_key=True),
    sa.Column("table_name", sa.String(200), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("actor", sa.String(200), nullable=False),
    sa.Column("policy_digest", sa.String(64), nullable=False),
    sa.Column("intended_at", UtcInstant, nullable=False),
    sa.Column("intent", CanonicalJson, nullable=False),
    sa.Column("finished_at", UtcInstant),
    sa.Column("spared", CanonicalJson),
    sa.UniqueConstraint("table_name", "number"),
    sa.CheckConstraint("(finished_at IS NULL) = (spared IS NULL)", name="fact"),
)

delivery = sa.Table(
    "delivery",
    metadata,
    sa.Column("delivery_id", sa.ForeignKey("publication.publication_id"), primary_key=True),
    sa.Column("run_id", sa.ForeignKey("run.run_id"), nullable=False, index=True),
    sa.Column("topic", sa.String(250), nullable=False),
    sa.Column("events_count", sa.BigInteger, nullable=False),
    sa.Column("starts", PlainJson, nullable=False),
    sa.Column("intended_at", UtcInstant, nullable=False),
    sa.Column("told_at", UtcInstant),
    sa.Column("ends", PlainJson),
    sa.CheckConstraint("(told_at IS NULL) = (ends IS NULL)", name="fact"),
)

# Whatever becomes of the rows that it was counted from.
tally = sa.Table(
    "tally",
    metadata,
    sa.Column("counted", sa.String(40), primary_key=True),
    sa.Column("table_name", sa.String(200), primary_key=True),
    sa.Column("kind", sa.String(40), primary_key=True),
    sa.Column("mode", sa.String(40), primary_key=True),
    sa.Column("word", sa.String(120), primary_key=True),
    sa.Column("amount", sa.BigInteger, nullable=False),
    _one_of("counted", Counted),
)

# What nobody has told lineage of yet: an event of a run, or a step of a chunk.
lineage_due = sa.Table(
    "lineage_due",
    metadata,
    # SQLite numbers only what it calls an integer.
    sa.Column(
        "position",
        sa.BigInteger().with_variant(sa.Integer, "sqlite"),
        primary_key=True,
        autoincrement=True,
    ),
    sa.Column("run_id", sa.ForeignKey("run.run_id"), nullable=False),
    sa.Column("seq", sa.Integer),  # of the run's event; nothing where a chunk is meant
    sa.Column("chunk_id", sa.String(40)),
    sa.Column("attempt", sa.Integer),
    sa.Column("status", sa.String(40)),
    sa.Column("at", UtcInstant, nullable=False),
    sa.CheckConstraint("(seq IS NULL) = (chunk_id IS NOT NULL)", name="subject"),
)

_NOT_RESOLVED = sa.text("resolved_at IS NULL")

finding = sa.Table(
    "finding",
    metadata,
    sa.Column("key", sa.String(300), primary_key=True),
    sa.Column("table_name", sa.String(200), nullable=False),
    sa.Column("kind", sa.String(40), nullable=False),
    sa.Column("days", Days),  # nothing where a log does not name them
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("first_seen_at", UtcInstant, nullable=False),
    sa.Column("last_seen_at", UtcInstant, nullable=False),
    sa.Column("resolved_at", UtcInstant),
    sa.Column("reported_at", UtcInstant),
    sa.Column("reported_digest", sa.String(64)),
    sa.Column("reported_why", sa.Text),
    sa.Column("refused_at", UtcInstant),
    _one_of("kind", GapKind),
    sa.CheckConstraint("(reported_at IS NULL) = (reported_digest IS NULL)", name="report"),
    sa.Index(
        "ix_finding_lasting",
        "table_name",
        sqlite_where=_NOT_RESOLVED,
        postgresql_where=_NOT_RESOLVED,
    ),
)

_NOT_SUPERSEDED = sa.text("superseded_at IS NULL")

accepted_output = sa.Table(
    "accepted_output",
    metadata,
    sa.Column("table_name", sa.String(200), primary_key=True),
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("publication_id", sa.ForeignKey("publication.publication_id"), primary_key=True),
    sa.Column("run_id", sa.ForeignKey("run.run_id"), nullable=False, index=True),
    sa.Column("row_count", sa.BigInteger, nullable=False),
    sa.Column("checksum", sa.String(200), nullable=False),
    sa.Column("target_version", sa.BigInteger, nullable=False),
    sa.Column("accepted_at", UtcInstant, nullable=False),
    sa.Column("superseded_at", UtcInstant),
    sa.Column("superseded_by_run_id", sa.ForeignKey("run.run_id")),
    # Invariant: a partition has one accepted run at most
    # (test_the_database_refuses_a_second_current_row).
    sa.Index(
        "uq_accepted_output_current",
        "table_name",
        "day",
        unique=True,
        sqlite_where=_NOT_SUPERSEDED,
        postgresql_where=_NOT_SUPERSEDED,
    ),
)

alert = sa.Table(
    "alert",
    metadata,
    sa.Column("alert_key", sa.String(400), primary_key=True),
    sa.Column("opened_at", UtcInstant, primary_key=True),
    sa.Column("kind", sa.String(40), nullable=False),
    sa.Column("subject", sa.String(320), nullable=False),
    sa.Column("table_name", sa.String(200), nullable=False),
    sa.Column("severity", sa.String(40), nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("seen_at", UtcInstant, nullable=False),
    sa.Column("told_at", UtcInstant, nullable=False),
    sa.Column("resolved_at", UtcInstant, index=True),
    _one_of("kind", AlertKind),
    _one_of("severity", AlertSeverity),
    # Invariant: a condition is open once at most
    # (test_the_database_refuses_to_open_an_alert_twice).
    sa.Index(
        "uq_alert_open",
        "alert_key",
        unique=True,
        sqlite_where=sa.text(UNRESOLVED),
        postgresql_where=sa.text(UNRESOLVED),
    ),
)

alert_delivery = sa.Table(
    "alert_delivery",
    metadata,
    sa.Column("delivery_id", sa.String(32), primary_key=True),
    sa.Column("alert_key", sa.String(400), nullable=False),
    sa.Column("opened_at", UtcInstant, nullable=False),
    sa.Column("event", sa.String(40), nullable=False),
    sa.Column("at", UtcInstant, nullable=False),
    sa.Column("channel", sa.String(100), nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("next_attempt_at", UtcInstant, nullable=False),
    sa.Column("delivered_at", UtcInstant),
    sa.Column("error", sa.Text, nullable=False),
    _one_of("event", AlertEvent),
    sa.ForeignKeyConstraint(["alert_key", "opened_at"], ["alert.alert_key", "alert.opened_at"]),
    sa.Index(None, "alert_key", "opened_at"),
    _some("ix_alert_delivery_waiting", UNDELIVERED, "next_attempt_at"),
)
