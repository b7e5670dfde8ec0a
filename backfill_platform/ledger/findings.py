"""What looks at the tables have found: noted when it is seen, reported once, resolved when gone.

Invariant: a gap is reported once, and again only when it, or the reason why nobody repairs it, has
changed (test_of_two_who_report_the_same_one_does). However many gaps, a look takes a few
statements.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.gaps import Gap, GapKind, GapReport, NotedChanges, NotedGap
from backfill_platform.ledger.database import stand_in_line
from backfill_platform.ledger.schema import finding

_MOST_KEYS = 500  # in one statement
_UNREPORTED = dict.fromkeys(("reported_at", "reported_digest", "reported_why", "refused_at"))


def note_gaps(
    connection: sa.Connection, seen: Sequence[Gap], tables: Collection[str], now: datetime
) -> NotedChanges:
    """`seen` is all that was found in these tables; what else lasts there is gone now."""
    stand_in_line(connection, "findings")
    lasting = read_lasting(connection, tables)
    gaps = {gap.key: gap for gap in seen}
    new = [gap for key, gap in gaps.items() if key not in lasting]
    changed = [
        gap for key, gap in gaps.items() if key in lasting and lasting[key].digest != gap.digest
    ]
    gone = [key for key in lasting if key not in gaps]
    _begin(connection, new, now)
    _rewrite(connection, changed)
    _set(connection, gaps, {"last_seen_at": now})
    _set(connection, gone, {"resolved_at": now})
    return NotedChanges(
        new=tuple(gap.key for gap in new),
        changed=tuple(gap.key for gap in changed),
        resolved=tuple(gone),
    )


def record_reports(
    connection: sa.Connection, reports: Sequence[GapReport], now: datetime
) -> tuple[str, ...]:
    """The keys of those that say something new; the others were reported before."""
    return tuple(report.key for report in reports if _is_new(connection, report, now))


def read_lasting(connection: sa.Connection, tables: Collection[str]) -> dict[str, NotedGap]:
    rows = connection.execute(
        sa.select(finding)
        .where(finding.c.table_name.in_(tables), finding.c.resolved_at.is_(None))
        .order_by(finding.c.key)
    )
    return {row.key: _read(row) for row in rows}


def _begin(connection: sa.Connection, gaps: Sequence[Gap], now: datetime) -> None:
    """One that comes back after it was resolved begins anew, with nothing reported."""
    for keys in _batches([gap.key for gap in gaps]):
        connection.execute(finding.delete().where(finding.c.key.in_(keys)))
    if gaps:
        first = {"first_seen_at": now, "last_seen_at": now, "resolved_at": None, **_UNREPORTED}
        rows = [{"key": gap.key, "table_name": gap.table, **_content(gap), **first} for gap in gaps]
        connection.execute(finding.insert(), rows)


def _rewrite(connection: sa.Connection, gaps: Sequence[Gap]) -> None:
    for gap in gaps:
        connection.execute(finding.update().where(finding.c.key == gap.key).values(**_content(gap)))


def _is_new(connection: sa.Connection, report: GapReport, now: datetime) -> bool:
    of_gap = finding.update().where(finding.c.key == report.key)
    if report.was_refused:
        connection.execute(of_gap.values(refused_at=now))
    is_other = sa.or_(
        finding.c.reported_digest.is_(None), finding.c.reported_digest != report.digest
    )
    told = connection.execute(
        of_gap.where(is_other).values(
            reported_at=now, reported_digest=report.digest, reported_why=report.why
        )
    )
    return told.rowcount > 0


def _set(connection: sa.Connection, keys: Collection[str], values: Mapping[str, Any]) -> None:
    for some in _batches([*keys]):
        connection.execute(finding.update().where(finding.c.key.in_(some)).values(**values))


def _batches(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), _MOST_KEYS):
        yield keys[start : start + _MOST_KEYS]


def _content(gap: Gap) -> dict[str, Any]:
    return {
        "kind": gap.kind.value,
        "days": gap.days,
        "digest": gap.digest,
        "message": gap.message,
    }


def _read(row: sa.Row[Any]) -> NotedGap:
    fields = dict(row._mapping)
    return NotedGap(table=fields.pop("table_name"), **{**fields, "kind": GapKind(row.kind)})
