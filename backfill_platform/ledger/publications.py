"""Publications: the intent before the commit to the target, and the fact after it.

Invariant: a fact, the partitions it makes accepted and those it supersedes are written together or
not at all (test_a_fact_that_cannot_be_written_whole_leaves_nothing).
"""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.errors import LostRace, RunUnknown, TargetMoved
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.ledger_figures import count_commit
from backfill_platform.domain.runs import (
    AcceptedRows,
    PublicationFact,
    PublicationIntent,
    PublicationRecord,
)
from backfill_platform.ledger.accepted import accept_rows
from backfill_platform.ledger.database import stand_in_line
from backfill_platform.ledger.runs import lock_run, refuse_stopped
from backfill_platform.ledger.schema import publication
from backfill_platform.ledger.tallies import add_counts

_HAS_NOT_LANDED = publication.c.outcome.is_distinct_from(PublicationFact.LANDED.value)


def write_intent(
    connection: sa.Connection, intent: PublicationIntent, now: datetime
) -> PublicationRecord:
    """One that was given up may be taken up again; one that is open or landed may not change.

    Invariant: nothing of a stopped run is published; whoever stops it and whoever intends to
    publish it wait for each other (test_nothing_of_a_stopped_run_is_published).
    """
    refuse_stopped(lock_run(connection, intent.run_id))
    known = _find(connection, intent.publication_id)
    if known is None:
        connection.execute(publication.insert().values(**_intent_columns(intent, now)))
    elif known.outcome is PublicationFact.GIVEN_UP:
        again = {**_intent_columns(intent, now), "fact_at": None, "outcome": None}
        _update(connection, intent.publication_id, again)
    elif known.intent != intent:
        raise TargetMoved(
            f"Publication {intent.publication_id} was already intended with other partitions, "
            "files or base. Recover it, then review and publish again."
        )
    return find_publication(connection, intent.publication_id)


def write_fact(
    connection: sa.Connection,
    publication_id: str,
    version: int,
    rows: tuple[AcceptedRows, ...],
    now: datetime,
) -> PublicationRecord:
    """Also of an intent that was given up: nobody can know what the log will say, and it decides
    (test_what_was_given_up_and_landed_after_all_is_a_fact)."""
    known = find_publication(connection, publication_id)
    if known.outcome is PublicationFact.LANDED and known.version == version:
        return known
    # Two facts about one day could each overlook the other, and the later one would be refused.
    stand_in_line(connection, f"accepted partitions of {known.intent.table}")
    _refuse_other_days(known.intent, rows)
    fact = {"fact_at": now, "version": version, "outcome": PublicationFact.LANDED.value}
    _close(connection, known, fact, _HAS_NOT_LANDED)
    accept_rows(connection, known.intent, version, rows, now)
    add_counts(connection, known.intent.run_id, count_commit(now - known.intent_at))
    return find_publication(connection, publication_id)


def give_up_intent(
    connection: sa.Connection, publication_id: str, now: datetime
) -> PublicationRecord:
    known = find_publication(connection, publication_id)
    if known.outcome is PublicationFact.GIVEN_UP:
        return known
    given_up = {"fact_at": now, "outcome": PublicationFact.GIVEN_UP.value}
    _close(connection, known, given_up, publication.c.fact_at.is_(None))
    return find_publication(connection, publication_id)


def find_publication(connection: sa.Connection, publication_id: str) -> PublicationRecord:
    found = _find(connection, publication_id)
    if found is None:
        raise RunUnknown(f"No intent to publish {publication_id} is recorded; record it first.")
    return found


def read_publications(connection: sa.Connection, run_id: RunId) -> tuple[PublicationRecord, ...]:
    rows = connection.execute(
        sa.select(publication)
        .where(publication.c.run_id == run_id)
        .order_by(publication.c.intent_at, publication.c.publication_id)
    )
    return tuple(read_publication(row) for row in rows)


def read_open_intents(
    connection: sa.Connection, run_id: RunId | None
) -> tuple[PublicationRecord, ...]:
    still_open = (
        sa.select(publication)
        .where(publication.c.fact_at.is_(None))
        .order_by(publication.c.intent_at, publication.c.publication_id)
    )
    chosen = still_open if run_id is None else still_open.where(publication.c.run_id == run_id)
    return tuple(read_publication(row) for row in connection.execute(chosen))


def _find(connection: sa.Connection, publication_id: str) -> PublicationRecord | None:
    row = connection.execute(
        sa.select(publication)
        .where(publication.c.publication_id == publication_id)
        .with_for_update()
    ).first()
    return None if row is None else read_publication(row)


def _refuse_other_days(intent: PublicationIntent, rows: Iterable[AcceptedRows]) -> None:
    days = sorted(accepted.day for accepted in rows)
    if days != sorted(intent.days):
        raise ValueError(
            f"publication {intent.publication_id} was intended for {sorted(intent.days)}, "
            f"and the fact speaks of {days}"
        )


def _close(
    connection: sa.Connection,
    known: PublicationRecord,
    values: dict[str, Any],
    while_: sa.ColumnElement[bool],
) -> None:
    if _update(connection, known.intent.publication_id, values, while_) == 0:
        raise LostRace(
            f"Publication {known.intent.publication_id} ended already: {known.outcome}, version "
            f"{known.version}. Read it again before you decide."
        )


def _update(
    connection: sa.Connection,
    publication_id: str,
    values: dict[str, Any],
    *conditions: sa.ColumnElement[bool],
) -> int:
    of_id = publication.c.publication_id == publication_id
    return connection.execute(
        publication.update().where(of_id, *conditions).values(**values)
    ).rowcount


def _intent_columns(intent: PublicationIntent, now: datetime) -> dict[str, Any]:
    base = {day.isoformat(): held for day, held in intent.base.items()}
    return {
        "publication_id": intent.publication_id,
        "run_id": intent.run_id,
        "table_name": intent.table,
        "days": [day.isoformat() for day in intent.days],
        "intent_at": now,
        "intent": {"base": base, "files_count": intent.files_count},
    }


def read_publication(row: sa.Row[Any]) -> PublicationRecord:
    base = {date.fromisoformat(day): held for day, held in row.intent["base"].items()}
    return PublicationRecord(
        intent=PublicationIntent(
            publication_id=row.publication_id,
            run_id=row.run_id,
            table=row.table_name,
            days=tuple(date.fromisoformat(day) for day in row.days),
            base=base,
            files_count=row.intent["files_count"],
        ),
        intent_at=row.intent_at,
        fact_at=row.fact_at,
        version=row.version,
        outcome=PublicationFact(row.outcome) if row.outcome else None,
    )
