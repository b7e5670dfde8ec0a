"""Which runs hold which partitions of a table, and who has to wait for them.

Invariant: no two runs that may still publish share a partition of a table
(test_of_two_overlapping_runs_that_race_one_is_registered). A run holds its partitions from the
moment it is registered until it is published or stopped. Dry runs, reconciliations and candidates
publish nothing, so they hold nothing and nobody is in their way; nor is a live run in the way of
another one where `ledger.live` lets both write.
"""

from collections.abc import Collection
from datetime import datetime
from itertools import product

import sqlalchemy as sa

from backfill_platform.domain.errors import LostRace, PartitionsHeld, PlanRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import (
    IN_FLIGHT,
    NOT_BEGUN,
    OPEN_TO_DECISIONS,
    STOPPED,
    RunState,
)
from backfill_platform.domain.manifests import is_dark
from backfill_platform.domain.modes import ExecutionMode
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.runs import LostRaceValue, NewRun, RunInFlight, RunRecord
from backfill_platform.ledger.database import stand_in_line
from backfill_platform.ledger.live import may_write_beside
from backfill_platform.ledger.runs import find_run, move_run, read_run
from backfill_platform.ledger.schema import run

_HOLDING_MODES = frozenset({ExecutionMode.BACKFILL, ExecutionMode.REPLAY, ExecutionMode.LIVE})


def wait_for_table(connection: sa.Connection, table: str) -> None:
    """Registrations of one table stand in line, or two could both find the partitions free."""
    stand_in_line(connection, f"partitions of {table}")


def hold_for_new_run(connection: sa.Connection, new: NewRun, now: datetime) -> None:
    _end_replaced(connection, new, now)
    if _may_publish(new):
        _hold(connection, new, actor=new.actor, now=now)


def hold_again(connection: sa.Connection, run_id: RunId, *, actor: str, now: datetime) -> None:
    """A failed run held nothing, so somebody else may hold its partitions by now."""
    record = find_run(connection, run_id)
    wait_for_table(connection, record.table)
    if _may_publish(record):
        _hold(connection, record, actor=actor, now=now)


def read_in_flight(
    connection: sa.Connection, tables: Collection[str], now: datetime
) -> dict[str, tuple[RunInFlight, ...]]:
    """By table, the oldest first."""
    found: dict[str, list[RunInFlight]] = {table: [] for table in tables}
    for record in _holders(connection, tables):
        if record.days is not None and not _has_expired(record, now):
            found[record.table].append(
                RunInFlight(
                    run_id=record.run_id,
                    state=record.state,
                    days=record.days,
                    requested_by=record.actor,
                    is_live=record.mode is ExecutionMode.LIVE,
                )
            )
    return {table: tuple(runs) for table, runs in found.items()}


def _hold(connection: sa.Connection, one: NewRun | RunRecord, *, actor: str, now: datetime) -> None:
    in_the_way = [
        record
        for record in _holders(connection, (one.table,))
        if record.run_id != one.run_id
        and _overlap(record, one.days)
        and not may_write_beside(one, record)
    ]
    for record in in_the_way:
        if _has_expired(record, now):
            _expire(connection, record, one.run_id, actor=actor, now=now)
    holders = [record for record in in_the_way if not _has_expired(record, now)]
    if holders:
        sentences = "\n".join(f"  - {_sentence(record, one.days)}" for record in holders)
        raise PartitionsHeld(f"Partitions of {one.table} are held:\n{sentences}")


def _holders(connection: sa.Connection, tables: Collection[str]) -> tuple[RunRecord, ...]:
    rows = connection.execute(
        sa.select(run)
        .where(
            run.c.table_name.in_(tables),
            run.c.state.in_([state.value for state in IN_FLIGHT]),
            run.c.mode.in_([mode.value for mode in _HOLDING_MODES]),
        )
        .order_by(run.c.planned_at, run.c.run_id)
    )
    return tuple(record for row in rows if _may_publish(record := read_run(row)))


def _may_publish(one: NewRun | RunRecord) -> bool:
    return one.mode in _HOLDING_MODES and not is_dark(one.manifest_json)


def _overlap(record: RunRecord, days: PartitionSet | None) -> str:
    """The days that both want, as people write them; empty when there are none."""
    if record.days is None or days is None:
        return "days that an early version did not record"
    clipped = [one.clip(other) for one, other in product(record.days.ranges, days.ranges)]
    return ", ".join(str(common) for common in clipped if common is not None)


def _has_expired(record: RunRecord, now: datetime) -> bool:
    is_over = record.valid_until is not None and record.valid_until <= now
    return is_over and record.state in NOT_BEGUN


def _expire(
    connection: sa.Connection, record: RunRecord, wanted_by: RunId, *, actor: str, now: datetime
) -> None:
    assert record.valid_until is not None, "only what had a term expires"
    cause = f"its plan was valid until {record.valid_until:%Y-%m-%d %H:%M} UTC; {wanted_by} follows"
    _end(connection, record, RunState.EXPIRED, wanted_by, actor=actor, cause=cause, now=now)


def _end_replaced(connection: sa.Connection, new: NewRun, now: datetime) -> None:
    if new.replaces is None:
        return
    replaced = find_run(connection, new.replaces)
    if replaced.table != new.table:
        raise PlanRefused((f"{replaced.run_id} is about {replaced.table} and not {new.table}",))
    if replaced.state in STOPPED:
        return
    if replaced.state not in OPEN_TO_DECISIONS:
        raise PlanRefused(
            (
                f"{replaced.run_id} is {replaced.state}, so it cannot be replaced any more; "
                "plan a run of its own that supersedes what it publishes",
            )
        )
    cause = f"replaced by {new.run_id}"
    _end(
        connection,
        replaced,
        RunState.CANCELLED,
        new.run_id,
        actor=new.actor,
        cause=cause,
        now=now,
    )


def _end(
    connection: sa.Connection,
    record: RunRecord,
    state: RunState,
    in_favour_of: RunId,
    *,
    actor: str,
    cause: str,
    now: datetime,
) -> None:
    ended = move_run(
        connection,
        record.run_id,
        record.state,
        state,
        actor=actor,
        cause=cause,
        details={"in_favour_of": in_favour_of},
        now=now,
    )
    if isinstance(ended, LostRaceValue):
        raise LostRace(
            f"Run {record.run_id} has just become {ended.run.state}, so it could not be "
            f"{state.value.lower()}. Look at it again, then plan again."
        )


def _sentence(record: RunRecord, days: PartitionSet | None) -> str:
    held = f"{_overlap(record, days)} by {record.run_id} ({record.state}, of {record.actor})"
    wait = f"wait for it (`backfill show {record.run_id}`)"
    if record.state is RunState.PUBLISHING:
        return f"{held}: {wait}"
    return (
        f"{held}: {wait}, end it with `backfill cancel {record.run_id}`, "
        f"or plan with `--replaces {record.run_id}`"
    )
