"""Fences: who may commit to which partitions of a table now, and who has to stay out.

Invariant: over the same partitions only the newest token may commit, and only until its lease ends
(test_an_older_token_may_not_commit). Whoever gives way, as frozen live writers do, gets no token
while another run's fence is open; everybody else gets a newer one, and from then the older are
stale. Tokens of live runs and of others do not count against each other where `ledger.live` lets
both write.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.errors import PartitionsFenced
from backfill_platform.domain.fences import Fence
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.ledger.database import stand_in_line
from backfill_platform.ledger.live import may_write_beside
from backfill_platform.ledger.runs import find_run
from backfill_platform.ledger.schema import fence


def acquire_fence(
    connection: sa.Connection,
    run_id: RunId,
    table: str,
    days: PartitionSet,
    *,
    gives_way: bool,
    lease_seconds: int,
    now: datetime,
) -> Fence:
    # Two that look for the highest token at once would both take the next one.
    stand_in_line(connection, f"fences of {table}")
    if gives_way:
        _refuse_frozen(read_open_fences(connection, table, now), run_id, days)
    highest = sa.select(sa.func.max(fence.c.token)).where(fence.c.table_name == table)
    acquired = Fence(
        table=table,
        token=1 + (connection.scalar(highest) or 0),
        run_id=run_id,
        days=days,
        acquired_at=now,
        expires_at=now + timedelta(seconds=lease_seconds),
        released_at=None,
    )
    connection.execute(
        fence.insert().values(
            table_name=table,
            token=acquired.token,
            run_id=run_id,
            days=days,
            acquired_at=now,
            expires_at=acquired.expires_at,
        )
    )
    return acquired


def refuse_stale(connection: sa.Connection, held: Fence, now: datetime) -> None:
    """Asked right before a commit."""
    current = _find(connection, held)
    newer = connection.execute(
        sa.select(fence).where(fence.c.table_name == held.table, fence.c.token > held.token)
    )
    own = find_run(connection, held.run_id)
    overtaking = [
        other
        for other in map(_read, newer)
        if _overlap(other.days, held.days)
        and not may_write_beside(own, find_run(connection, other.run_id))
    ]
    if overtaking:
        raise _stale(held, f"{overtaking[0].run_id} has taken token {overtaking[0].token} since")
    if not current.is_open(now):
        ended = current.released_at or current.expires_at
        raise _stale(held, f"its lease ended at {_said(ended)}")


def renew_fence(
    connection: sa.Connection, held: Fence, *, lease_seconds: int, now: datetime
) -> None:
    """One that has ended stays ended: somebody may have looked at the partitions since."""
    is_open = sa.and_(fence.c.released_at.is_(None), fence.c.expires_at > now)
    values = {"expires_at": now + timedelta(seconds=lease_seconds)}
    if _update(connection, held, values, is_open) == 0:
        raise _stale(held, "it had ended before it was renewed")


def release_fence(
    connection: sa.Connection, held: Fence, *, frozen_until: datetime | None, now: datetime
) -> None:
    """Doing it twice equals doing it once. Where the partitions stay frozen for a while, the fence
    ends by itself."""
    values = {"expires_at": frozen_until} if frozen_until else {"released_at": now}
    _update(connection, held, values, fence.c.released_at.is_(None))


def read_open_fences(connection: sa.Connection, table: str, now: datetime) -> tuple[Fence, ...]:
    rows = connection.execute(
        sa.select(fence)
        .where(fence.c.table_name == table, fence.c.released_at.is_(None), fence.c.expires_at > now)
        .order_by(fence.c.token)
    )
    return tuple(_read(row) for row in rows)


def _refuse_frozen(fences: Iterable[Fence], run_id: RunId, days: PartitionSet) -> None:
    frozen = [
        f"  - {_overlap(other.days, days)} by {other.run_id} until {_said(other.expires_at)}"
        for other in fences
        if other.run_id != run_id and _overlap(other.days, days)
    ]
    if frozen:
        raise PartitionsFenced(
            f"Live run {run_id} gives way, because partitions are frozen:\n"
            + "\n".join(frozen)
            + "\nNothing was changed; publish it again when they are free."
        )


def _stale(held: Fence, why: str) -> PartitionsFenced:
    return PartitionsFenced(
        f"Fence {held.token} of {held.run_id} over {held.days} of {held.table} holds no longer: "
        f"{why}. Nothing was committed under it; the same call takes a new one and looks again."
    )


def _overlap(one: PartitionSet, other: PartitionSet) -> str:
    """The days that both name, as people write them; empty when there are none."""
    clipped = [left.clip(right) for left, right in product(one.ranges, other.ranges)]
    return ", ".join(str(common) for common in clipped if common is not None)


def _find(connection: sa.Connection, held: Fence) -> Fence:
    row = connection.execute(
        sa.select(fence).where(fence.c.table_name == held.table, fence.c.token == held.token)
    ).one()
    return _read(row)


def _update(
    connection: sa.Connection,
    held: Fence,
    values: dict[str, Any],
    condition: sa.ColumnElement[bool],
) -> int:
    of_token = sa.and_(fence.c.table_name == held.table, fence.c.token == held.token)
    return connection.execute(fence.update().where(of_token, condition).values(**values)).rowcount


def _read(row: sa.Row[Any]) -> Fence:
    fields = dict(row._mapping)
    return Fence(table=fields.pop("table_name"), **fields)


def _said(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC"
