"""Counts that only grow, added up in the transaction that does what they count.

So nothing is lost in a crash or counted twice, and reading them costs the same after any number of
runs. Whoever counts does it last in its transaction: rows that many share are then locked for a
moment, and always in one order.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.ledger_figures import Count, Counted, Tally
from backfill_platform.domain.modes import ExecutionMode, RunKind
from backfill_platform.ledger.schema import run, tally

_KEY = ("counted", "table_name", "kind", "mode", "word")
_INSERTS: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


def add_counts(connection: sa.Connection, run_id: RunId, counts: Iterable[Count]) -> None:
    """Invariant: what is counted is written with what it counts, or not at all
    (test_what_is_done_twice_is_counted_once)."""
    added = _sum_up(counts)
    if not added:
        return
    of_run = connection.execute(
        sa.select(run.c.table_name, run.c.kind, run.c.mode).where(run.c.run_id == run_id)
    ).one()
    rows = [
        {**of_run._mapping, "counted": counted, "word": word, "amount": amount}
        for (counted, word), amount in sorted(added.items())
    ]
    insert = _INSERTS[connection.dialect.name](tally)
    more = {"amount": tally.c.amount + insert.excluded.amount}
    connection.execute(insert.on_conflict_do_update(index_elements=_KEY, set_=more), rows)


def read_tallies(connection: sa.Connection) -> tuple[Tally, ...]:
    rows = connection.execute(sa.select(tally).order_by(*tally.primary_key))
    return tuple(
        Tally(
            counted=Counted(row.counted),
            table=row.table_name,
            kind=RunKind(row.kind),
            mode=ExecutionMode(row.mode),
            word=row.word,
            amount=row.amount,
        )
        for row in rows
    )


def _sum_up(counts: Iterable[Count]) -> dict[tuple[str, str], int]:
    added: Counter[tuple[str, str]] = Counter()
    for count in counts:
        added[count.counted.value, count.word] += count.amount
    return {key: amount for key, amount in added.items() if amount}
