"""Facts become gaps: what each table lacks, or holds and nobody explains. Pure.

The days that a table lacks are `planner.lacking`'s; here is what is wrong with days that it holds.
A gap is a range of days, or a single cause; its key names the table and where it begins, and stays
whatever else of the gap changes.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from statistics import median

from backfill_platform.domain.gaps import EndedRun, Gap, GapKind
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.planner.gap_facts import GapFacts, LooseCommit, TableFacts
from backfill_platform.planner.lacking import lacking_gaps
from backfill_platform.planner.wording import count_of, name_days

USUAL_DAYS = 28  # before a day, whose rows say what is usual
TAKEN_UP_DAYS = 30  # after which nobody is reminded of a run that failed
LEAST_DAYS = 7  # of these that hold rows; with fewer, nobody knows what is usual


def find_gaps(facts: GapFacts) -> tuple[Gap, ...]:
    """Those of a table whose days are empty first, and inputs before what reads them."""
    return tuple(gap for table in facts.tables for gap in _of_table(facts, table))


def _of_table(facts: GapFacts, table: TableFacts) -> Iterator[Gap]:
    yield from lacking_gaps(facts, table)
    for ended in table.ended:
        if ended.ended_at.date() >= facts.today - timedelta(days=TAKEN_UP_DAYS):
            yield from _not_taken_up(table, ended)
    yield from _too_few_rows(table)
    yield from _late_data(table)
    for commit in table.commits:
        yield from _unexplained(table, commit)


def _not_taken_up(table: TableFacts, ended: EndedRun) -> Iterator[Gap]:
    """A plan that nobody began expires without harm; a failure over days that hold something waits
    for somebody. Days that hold nothing are lacking anyhow."""
    if ended.state is not RunState.FAILED:
        return
    waiting = [
        day
        for day in ended.days
        if table.is_there(day)
        and (day not in table.accepted or table.accepted[day].accepted_at < ended.ended_at)
    ]
    if waiting:
        yield Gap(
            table=table.spec.full_name,
            kind=GapKind.RUN_ENDED,
            subject=f"run-{ended.run_id}",
            days=PartitionSet.of_days(waiting),
            message=f"{ended.run_id} failed on {ended.ended_at:%Y-%m-%d}, and what it would "
            f"replace on {name_days(waiting)} was not accepted anew since",
            since=ended.ended_at,
        )


def _too_few_rows(table: TableFacts) -> Iterator[Gap]:
    share = table.spec.quality.rows_least_share_of_usual
    if share is None:
        return
    few = {day: usual for day, usual in _usual_rows(table.rows) if table.rows[day] < share * usual}
    for days in _ranges(few):
        worst = min(days, key=lambda day: table.rows[day] / few[day])
        yield Gap(
            table=table.spec.full_name,
            kind=GapKind.TOO_FEW_ROWS,
            subject=f"few-{days[0]}",
            days=PartitionSet.of_days(days),
            message=f"{worst} holds {count_of(table.rows[worst], 'row')}, and {few[worst]:,.0f} "
            f"are usual; the table declares at least {share:%} of that",
        )


def _usual_rows(rows: Mapping[date, int]) -> Iterator[tuple[date, Decimal]]:
    """Of each day that has enough days before it: the median of theirs."""
    before: deque[date] = deque()
    for day in sorted(rows):
        while before and before[0] < day - timedelta(days=USUAL_DAYS):
            before.popleft()
        if len(before) >= LEAST_DAYS:
            yield day, Decimal(median(rows[one] for one in before))
        before.append(day)


def _late_data(table: TableFacts) -> Iterator[Gap]:
    tolerance = table.spec.quality.late_rows
    if tolerance is None:
        return
    late = [
        day
        for day, rows in table.late.items()
        if not tolerance.allows(rows.computed_from, rows.computed_from + rows.arrived_since)
    ]
    for days in _ranges(late):
        arrived = sum(table.late[day].arrived_since for day in days)
        yield Gap(
            table=table.spec.full_name,
            kind=GapKind.LATE_DATA,
            subject=f"late-{days[0]}",
            days=PartitionSet.of_days(days),
            message=f"the inputs of {name_days(days)} hold {arrived:+,} rows since they were "
            "accepted",
        )


def _unexplained(table: TableFacts, commit: LooseCommit) -> Iterator[Gap]:
    """What was published since stands on its own; a commit that names no days stays a gap."""
    standing = [
        day
        for day in commit.days
        if day not in table.accepted or table.accepted[day].target_version < commit.version
    ]
    if commit.days and not standing:
        return
    where = f"rows of {name_days(standing)}" if standing else "rows, and does not say of which days"
    yield Gap(
        table=table.spec.full_name,
        kind=GapKind.UNEXPLAINED_COMMIT,
        subject=f"commit-{commit.version}",
        days=PartitionSet.of_days(standing) if standing else None,
        message=f"version {commit.version} changed {where}; no run explains it "
        f"(made by {commit.author})",
    )


def _ranges(days: Iterable[date]) -> Iterator[tuple[date, ...]]:
    found = [*days]
    if found:
        yield from (tuple(own) for own in PartitionSet.of_days(found).ranges)


def read_commit_subject(key: str) -> int:
    """The version, from the key of a gap of this kind."""
    return int(key.rpartition("commit-")[2])
