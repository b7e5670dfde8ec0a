"""Whether what a run reads is there, and may still be used: availability, retention, privacy.

Permission is not implied by availability: days that retention has closed are refused even where
they still lie, and a target may not be of a lower class than what feeds it.

Days to publish must be held by every input. Other days that are read, for warm-up or for late
arrivals, are told apart: before the declared start of the input nothing can exist (a warning, since
the first days see less history than later ones); within it, days that hold nothing up to the newest
day that does are a gap (a warning that names them); days that its retention has closed are refused.
"""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from backfill_platform.domain.findings import Check, Finding, Severity
from backfill_platform.domain.modes import Classification
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.tables import FileSource, Input, TableSpec
from backfill_platform.planner.conclude import Note, conclude
from backfill_platform.planner.draft import Draft
from backfill_platform.planner.scope import input_window, missing_days, needed_days
from backfill_platform.planner.wording import count_of, name_days


def source_available(draft: Draft) -> Finding:
    names = ", ".join(used.name for used in _inputs(draft))
    return conclude(
        Check.SOURCE_AVAILABLE,
        (note for used in _inputs(draft) for note in _presence_notes(draft, used)),
        otherwise=f"every day to publish is held by {names}, with no gap around them",
    )


def retention_allows(draft: Draft) -> Finding:
    """Invariant: what retention has closed is not processed, even where it still lies
    (test_days_that_retention_has_closed_are_refused_even_where_they_still_lie)."""
    return conclude(
        Check.RETENTION_ALLOWS,
        _retention_notes(draft),
        otherwise="no day that is read or published is past its retention",
    )


def privacy_allows(draft: Draft) -> Finding:
    """The declaration is the place to change it: nobody can wave one run through."""
    notes = (*_class_notes(draft), *_deletion_notes(draft))
    return conclude(Check.PRIVACY_ALLOWS, notes, otherwise="; ".join(_kept(draft)))


def _class_notes(draft: Draft) -> Iterator[Note]:
    """A table below its input says what each of its columns is: nothing slips through unnamed."""
    own = draft.spec.classification
    unsaid = [name for name in _business_columns(draft) if name not in _column_classes(draft)]
    for used in _inputs(draft):
        above = _declared(draft, used).classification
        if above.is_above(own) and unsaid:
            yield (
                Severity.REFUSE,
                f"input {used.name} is {above} and {draft.intent.table} only {own}; declare the "
                f"table as {above}, or the class of each of its columns, with a mask for what is "
                f"above {own} (nothing is said of {', '.join(unsaid)})",
            )


def _business_columns(draft: Draft) -> list[str]:
    names = draft.catalog.contracts[draft.intent.table].column_names
    return [name for name in names if name != draft.spec.partition_column]


def _column_classes(draft: Draft) -> Mapping[str, Classification]:
    return draft.spec.privacy.column_classes


def _deletion_notes(draft: Draft) -> Iterator[Note]:
    listed, before = draft.facts.deletions, draft.facts.left_out_before
    if listed is not None and listed.subjects < before:
        yield (
            Severity.REFUSE,
            f"deletion list {listed.name} names {listed.subjects} subjects and {before} were left "
            "out of what is accepted now; a list only grows. Have it landed whole, or, if somebody "
            "may be shown again, declare a list of another name",
        )


def _kept(draft: Draft) -> Iterator[str]:
    own, listed = draft.spec.classification, draft.facts.deletions
    higher = [
        used.name for used in _inputs(draft) if _declared(draft, used).classification.is_above(own)
    ]
    if higher:
        yield f"every column has a class, since {', '.join(higher)} is above {own}"
    else:
        yield f"no input is of a higher class than {own}"
    masks = draft.spec.privacy.masks_in(own)
    if masks:
        yield "masked: " + ", ".join(f"{name} ({mask})" for name, mask in masks.items())
    if listed is not None:
        yield f"{count_of(listed.subjects, 'subject')} of {listed.name} are left out"


def _presence_notes(draft: Draft, used: Input) -> Iterator[Note]:
    start, held = _declared(draft, used).start, draft.facts.inputs[used.name].days_present
    missing = missing_days(draft.intent.days, held)
    if missing:
        yield (
            Severity.REFUSE,
            f"input {used.name} holds nothing for {len(missing)} of the {len(draft.intent.days)} "
            f"days ({name_days(missing)}); "
            + ("load it first" if missing[-1] >= start else f"it starts on {start}"),
        )
    yield from _surrounding_notes(used.name, _days_around(draft, used), start, held)


def _surrounding_notes(
    name: str, around: list[date], start: date, held: PartitionSet | None
) -> Iterator[Note]:
    before = [day for day in missing_days(around, held) if day < start]
    if before:
        yield (
            Severity.WARN,
            f"{count_of(len(before), 'day')} of warm-up before {start}, when {name} starts, hold "
            "nothing: the first days see less history than later ones",
        )
    newest = held.span.last if held else start
    gap = missing_days((day for day in around if start <= day <= newest), held)
    if gap:
        yield (
            Severity.WARN,
            f"input {name} holds nothing for {count_of(len(gap), 'day')} around those to publish "
            f"({name_days(gap)}); load them first if there is anything",
        )


def _retention_notes(draft: Draft) -> Iterator[Note]:
    for used in _inputs(draft):
        declared, held = _declared(draft, used), draft.facts.inputs[used.name].days_present
        missing = missing_days(_days_read(draft, used), held)
        never_there = frozenset(day for day in missing if day < declared.start)
        read = [day for day in _days_read(draft, used) if day not in never_there]
        yield from _closed_notes(draft, read, declared.retention_days, f"{used.name} may be used")
    yield from _closed_notes(
        draft,
        list(draft.intent.days),
        draft.spec.retention_days,
        f"{draft.intent.table} may be written",
    )


def _closed_notes(
    draft: Draft, days: list[date], retention_days: int | None, what: str
) -> Iterator[Note]:
    if retention_days is None:
        return
    oldest = draft.today - timedelta(days=retention_days)
    closed = [day for day in days if day < oldest]
    if closed:
        warm_up = all(day < draft.intent.days.span.start for day in closed)
        yield (
            Severity.REFUSE,
            f"{what} for {retention_days} days only, since {oldest}; {name_days(closed)} "
            f"{'of the warm-up ' if warm_up else ''}is older: plan later days",
        )


def _days_read(draft: Draft, used: Input) -> list[date]:
    return sorted(needed_days(draft.intent.days, input_window(used, draft.intent.knowledge)))


def _days_around(draft: Draft, used: Input) -> list[date]:
    return [day for day in _days_read(draft, used) if day not in draft.intent.days]


def _inputs(draft: Draft) -> list[Input]:
    """In an order of their own, so that a plan does not depend on that of a declaration."""
    return sorted(draft.spec.inputs, key=lambda used: used.name)


def _declared(draft: Draft, used: Input) -> FileSource | TableSpec:
    return draft.catalog.sources.get(used.name) or draft.catalog.tables[used.name]
