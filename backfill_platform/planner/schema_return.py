"""What becomes of the target's columns when a run that changed them is rolled back.

Columns that were added, widened or relaxed stay: the rows that return fit them. A column that was
removed, narrowed or tightened has to be again what it was, for the rows that return; and that is
right only where the whole table returns to what it held before the run, so that nothing relies on
the columns of since.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from backfill_platform.domain.contracts import Column
from backfill_platform.domain.findings import Check, Finding, Severity
from backfill_platform.domain.publications import EMPTY_PARTITION
from backfill_platform.domain.schema_changes import SchemaChange, compare_schemas
from backfill_platform.planner.rollback_facts import FormerSchema, RollbackFacts
from backfill_platform.planner.wording import name_days


def returning_changes(facts: RollbackFacts) -> tuple[SchemaChange, ...]:
    """How the columns of now become those of before; nothing where they stay."""
    known = facts.schema
    if known is None or not _must_return(facts):
        return ()
    return compare_schemas(known.now, known.before or ())


def schema_return_reasons(facts: RollbackFacts, days: Iterable[date]) -> Iterator[str]:
    """Invariant: no row returns that the target's columns do not fit
    (test_a_run_that_narrowed_a_column_is_rolled_back_as_a_whole_or_not_at_all)."""
    known, asked = facts.schema, tuple(days)
    if known is None:
        return
    if _must_return(facts):
        yield from _whole_reasons(facts, known, asked)
    else:
        yield from _unfit_reasons(known, asked)


def schema_return_finding(changes: tuple[SchemaChange, ...]) -> tuple[Finding, ...]:
    if not changes:
        return ()
    named = ", ".join(dict.fromkeys(repr(change.column) for change in changes))
    return (
        Finding(
            check=Check.SCHEMA_KEPT,
            severity=Severity.WARN,
            message=f"{named} will be again what they were before the run, as its rows need them",
        ),
    )


def _must_return(facts: RollbackFacts) -> bool:
    return any(change.kind.must_be_undone for change in facts.undone.target.schema_changes)


def _whole_reasons(
    facts: RollbackFacts, known: FormerSchema, asked: tuple[date, ...]
) -> Iterator[str]:
    run_id = facts.undone.run_id
    changed = ", ".join(
        dict.fromkeys(repr(one.column) for one in facts.undone.target.schema_changes)
    )
    if known.before is None or known.left is None:
        yield (
            f"{run_id} changed {changed}, and the columns of before can no longer be read; restate "
            "these days with a new run"
        )
        return
    if set(known.now) != set(known.left):
        yield (
            f"{run_id} changed {changed}, and the columns have changed again since, so those of "
            "before cannot return; restate these days with a new run"
        )
    apart = _apart(known, asked)
    if apart:
        yield (
            f"{run_id} changed {changed}, so it can only be rolled back as a whole and before "
            f"anything relies on the new columns; {name_days(apart)} would not be what it was. "
            "Roll back what was published since, then all days of the run (without `--days`), or "
            "restate these days with a new run"
        )


def _apart(known: FormerSchema, asked: tuple[date, ...]) -> tuple[date, ...]:
    """Days that would not hold what they held before the run."""
    then = {**known.held_now, **{day: known.returning.get(day, "") for day in asked}}
    return tuple(
        day
        for day in sorted(then.keys() | known.held_before.keys())
        if then.get(day, EMPTY_PARTITION) != known.held_before.get(day, EMPTY_PARTITION)
    )


def _unfit_reasons(known: FormerSchema, asked: tuple[date, ...]) -> Iterator[str]:
    """Others may have narrowed or tightened a column since the rows were there."""
    unfit = {day: _binding(known.columns_of.get(day, ()), known.now) for day in asked}
    days = [day for day in asked if unfit[day]]
    if days:
        columns = sorted({column for day in days for column in unfit[day]})
        yield (
            f"what {name_days(days)} held before does not fit {', '.join(map(repr, columns))}, "
            "which changed since; restate these days with a new run"
        )


def _binding(former: tuple[Column, ...], now: tuple[Column, ...]) -> frozenset[str]:
    """By which columns old rows are bound that were written for others."""
    changes = compare_schemas(former, now) if former else ()
    return frozenset(change.column for change in changes if change.kind.binds_old_rows)
