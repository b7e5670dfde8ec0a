"""Registers runs and moves their states, each together with its event.

Invariant: a state is left only as the transitions table allows and only from where it stands; the
guarded update decides races (test_the_loser_of_a_race_is_told_where_the_run_stands).
"""

from collections.abc import Collection, Mapping
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.errors import IllegalTransition, RunStopped, RunUnknown
from backfill_platform.domain.identity import GroupId, RunId, build_run_id
from backfill_platform.domain.ledger_figures import Counted, count_dollars
from backfill_platform.domain.lifecycle import STOPPED, TRANSITIONS, RunState, may_follow
from backfill_platform.domain.modes import ExecutionMode, RunKind
from backfill_platform.domain.runs import LostRaceValue, Moved, NewRun, RunRecord
from backfill_platform.ledger.events import append_event
from backfill_platform.ledger.schema import run
from backfill_platform.ledger.tallies import add_counts


def next_number(
    connection: sa.Connection, table: str, transform_version: str, planned_on: date
) -> int:
    """One more than any run id of that day, table name and version has."""
    some_id = build_run_id(planned_on=planned_on, table=table, version=transform_version, number=0)
    prefix = some_id.removesuffix("000")
    taken = connection.scalars(
        sa.select(run.c.run_id).where(run.c.run_id.startswith(prefix, autoescape=True))
    )
    return max((int(run_id.removeprefix(prefix)) for run_id in taken), default=0) + 1


def is_taken(connection: sa.Connection, run_id: RunId) -> bool:
    held = sa.select(run.c.run_id).where(run.c.run_id == run_id)
    return connection.execute(held).first() is not None


def insert_run(connection: sa.Connection, record: NewRun, now: datetime) -> RunRecord:
    connection.execute(
        run.insert().values(
            run_id=record.run_id,
            group_id=record.group_id,
            origin=record.origin,
            table_name=record.table,
            kind=record.kind.value,
            mode=record.mode.value,
            transform_version=record.transform_version,
            state=RunState.PLANNED.value,
            manifest_json=record.manifest_json,
            manifest_digest=record.manifest_digest,
            actor=record.actor,
            reason=record.reason,
            planned_at=now,
            updated_at=now,
            days=record.days,
            valid_until=record.valid_until,
        )
    )
    append_event(
        connection,
        record.run_id,
        from_state=None,
        to_state=RunState.PLANNED,
        actor=record.actor,
        cause="planned",
        details={"manifest_digest": record.manifest_digest, "origin": record.origin},
        now=now,
    )
    cost = count_dollars(Counted.PLANNED_MICRODOLLARS, record.cost_usd)
    add_counts(connection, record.run_id, [cost])
    return find_run(connection, record.run_id)


def find_run(connection: sa.Connection, run_id: RunId) -> RunRecord:
    return _first_run(connection, sa.select(run).where(run.c.run_id == run_id), run_id)


def lock_run(connection: sa.Connection, run_id: RunId) -> RunRecord:
    """Whoever else wants to write about this run waits until this transaction ends."""
    locking = sa.select(run).where(run.c.run_id == run_id).with_for_update(key_share=True)
    return _first_run(connection, locking, run_id)


def find_run_by_origin(connection: sa.Connection, origin: str) -> RunRecord | None:
    row = connection.execute(sa.select(run).where(run.c.origin == origin)).first()
    return None if row is None else read_run(row)


def list_runs(
    connection: sa.Connection,
    *,
    table: str | None,
    states: Collection[RunState] | None,
    kind: RunKind | None,
    group: GroupId | None,
    limit: int,
) -> tuple[RunRecord, ...]:
    conditions = {
        run.c.table_name: [table] if table else None,
        run.c.state: None if states is None else [state.value for state in states],
        run.c.kind: [kind.value] if kind else None,
        run.c.group_id: [group] if group else None,
    }
    rows = connection.execute(
        sa.select(run)
        .where(*(column.in_(words) for column, words in conditions.items() if words is not None))
        .order_by(run.c.planned_at.desc(), run.c.run_id.desc())
        .limit(limit)
    )
    return tuple(read_run(row) for row in rows)


def refuse_illegal_move(run_id: RunId, from_state: RunState, to_state: RunState) -> None:
    if not may_follow(from_state, to_state):
        following = ", ".join(sorted(TRANSITIONS[from_state])) or "nothing"
        raise IllegalTransition(
            f"Run {run_id} cannot go from {from_state} to {to_state}; "
            f"what may follow {from_state}: {following}."
        )


def refuse_stopped(record: RunRecord) -> None:
    if record.state in STOPPED:
        raise RunStopped(
            f"Run {record.run_id} is {record.state} since {record.updated_at:%Y-%m-%d %H:%M} UTC, "
            f"so nothing of it is done any more. `backfill show {record.run_id}` tells who ended "
            "it and why; plan a new run if its days are still wanted."
        )


def move_run(
    connection: sa.Connection,
    run_id: RunId,
    from_state: RunState,
    to_state: RunState,
    *,
    actor: str,
    cause: str,
    details: Mapping[str, Any],
    now: datetime,
    superseded_by: RunId | None = None,
) -> Moved | LostRaceValue:
    refuse_illegal_move(run_id, from_state, to_state)
    moved = connection.execute(
        run.update()
        .where(run.c.run_id == run_id, run.c.state == from_state.value)
        .values(state=to_state.value, updated_at=now, superseded_by_run_id=superseded_by)
    )
    if moved.rowcount == 0:
        return LostRaceValue(run=find_run(connection, run_id))
    append_event(
        connection,
        run_id,
        from_state=from_state,
        to_state=to_state,
        actor=actor,
        cause=cause,
        details=details,
        now=now,
    )
    return Moved(run=find_run(connection, run_id))


def note_on_run(
    connection: sa.Connection,
    record: RunRecord,
    *,
    actor: str,
    cause: str,
    details: Mapping[str, Any],
    now: datetime,
) -> None:
    """An event that leaves the state as it is; the caller has locked the run."""
    of_run = run.update().where(run.c.run_id == record.run_id)
    connection.execute(of_run.values(updated_at=now))
    append_event(
        connection,
        record.run_id,
        from_state=record.state,
        to_state=record.state,
        actor=actor,
        cause=cause,
        details=details,
        now=now,
    )


def _first_run(
    connection: sa.Connection, query: sa.Select[tuple[Any, ...]], run_id: RunId
) -> RunRecord:
    row = connection.execute(query).first()
    if row is None:
        raise RunUnknown(f"The ledger holds no run {run_id}; `backfill list` shows those it holds.")
    return read_run(row)


def read_run(row: sa.Row[Any]) -> RunRecord:
    fields = dict(row._mapping)
    table = fields.pop("table_name")
    return RunRecord(
        **{
            **fields,
            "table": table,
            "kind": RunKind(fields["kind"]),
            "mode": ExecutionMode(fields["mode"]),
            "state": RunState(fields["state"]),
        }
    )
