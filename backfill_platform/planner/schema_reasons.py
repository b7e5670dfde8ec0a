"""Whether a run may change the columns of its target: what is harmless, agreed to, or refused.

Harmless are new nullable columns and wider types. Whatever takes something from consumers needs the
requester's consent, column by column. And what binds the rows that stay beside those of the run has
to be kept by them: a narrower type by none of them, no nulls by what the log counts.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from backfill_platform.domain.findings import Check, Finding, Severity
from backfill_platform.domain.modes import PublishMode
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.schema_changes import (
    SchemaChange,
    SchemaChangeKind,
    alike_names,
    compare_schemas,
    is_widening,
)
from backfill_platform.planner.conclude import Note, conclude
from backfill_platform.planner.draft import Draft
from backfill_platform.planner.facts import SchemaFacts
from backfill_platform.planner.publish_scope import choose_scope, is_never_published
from backfill_platform.planner.wording import name_days

_K = SchemaChangeKind


def planned_changes(draft: Draft) -> tuple[SchemaChange, ...]:
    """Nothing where the target has still to be made."""
    known = draft.facts.target.schema
    return () if known is None else compare_schemas(known.columns, known.declared)


def schema_kept(draft: Draft) -> Finding:
    """Invariant: consumers lose nothing of a column, and no old row becomes unreadable, without a
    consent that names the column (test_a_column_is_not_removed_without_consent)."""
    return conclude(
        Check.SCHEMA_KEPT,
        (_softened(draft, note) for note in _notes(draft, draft.facts.target.schema)),
        otherwise=_otherwise(draft),
    )


def _softened(draft: Draft, note: Note) -> Note:
    """What is never published changes no column, and may show what publishing it would ask for."""
    severity, message = note
    is_soft = severity is Severity.REFUSE and is_never_published(draft.intent, draft.spec)
    return (Severity.WARN if is_soft else severity, message)


def _otherwise(draft: Draft) -> str:
    known = draft.facts.target.schema
    if known is None:
        return "the target is made with the columns that are declared"
    return "old rows stay readable" if planned_changes(draft) else "the target's columns stay"


def _notes(draft: Draft, known: SchemaFacts | None) -> Iterator[Note]:
    changes = planned_changes(draft)
    yield from _unchanged_notes(draft, changes)
    yield from _input_notes(draft)
    if known is None:
        return
    for change in changes:
        yield _consent_note(draft, change)
    refused = (
        *_alike_reasons(known),
        *_partition_reasons(draft, changes),
        *_commit_reasons(draft, changes),
        *_staying_reasons(draft, known, changes),
    )
    yield from ((Severity.REFUSE, reason) for reason in refused)
    yield from (note for change in changes for note in _return_notes(known, change))


def _unchanged_notes(draft: Draft, changes: Iterable[SchemaChange]) -> Iterator[Note]:
    changing = {change.column for change in changes}
    for column in sorted(draft.intent.accepted_schema_changes - changing):
        what = f"those that change are {', '.join(sorted(changing))}" if changing else "none does"
        yield (
            Severity.REFUSE,
            f"`--accept-schema-change {column}` names a column of {draft.intent.table} that does "
            f"not change; {what}. Leave it out",
        )


def _input_notes(draft: Draft) -> Iterator[Note]:
    """An input whose own run has still to change its columns is read as it is."""
    for used in draft.spec.inputs:
        columns = draft.facts.inputs[used.name].columns
        if columns is None:
            continue
        there = {column.name: column.type for column in columns}
        declared = draft.catalog.contracts[used.name].columns
        behind = [one.name for one in declared if there.get(one.name) != one.type]
        if behind:
            yield (
                Severity.WARN,
                f"{used.name} does not have {', '.join(map(repr, behind))} as declared yet, and is "
                "read as it is; publish a run of it first, and plan this one then",
            )


def _consent_note(draft: Draft, change: SchemaChange) -> Note:
    told = _tell(change)
    if not change.kind.needs_consent:
        return Severity.PASS, told
    if change.column in draft.intent.accepted_schema_changes:
        return Severity.WARN, f"{told}, as {draft.intent.requested_by} consented"
    return (
        Severity.REFUSE,
        f"{told}; if that is meant, say so (`--accept-schema-change {change.column}`, or the tag "
        "`backfill/accept_schema_change`), or else declare the column as the target has it",
    )


def _tell(change: SchemaChange) -> str:
    column = f"column {change.column!r}"
    match change.kind:
        case _K.ADDED:
            return f"{column} ({change.after}) is added"
        case _K.WIDENED:
            return f"{column} is widened from {change.before} to {change.after}"
        case _K.RELAXED:
            return f"{column} may be null from now on"
        case _K.REMOVED:
            return f"{column} ({change.before}) is removed, and consumers lose it"
        case _K.NARROWED:
            return f"{column} turns from {change.before} into {change.after}, as no old file has it"
        case _K.TIGHTENED:
            return f"{column} may not be null from now on"


def _alike_reasons(known: SchemaFacts) -> Iterator[str]:
    alike = alike_names(known.columns, known.declared)
    if alike:
        yield (
            f"{' and '.join(map(repr, alike))} differ in upper and lower case alone, and Spark "
            "takes them for one column; choose another name"
        )


def _partition_reasons(draft: Draft, changes: Iterable[SchemaChange]) -> Iterator[str]:
    fixed = (draft.spec.partition_column, draft.spec.version_column)
    for change in changes:
        if change.column in fixed:
            yield (
                f"{draft.intent.table} is partitioned by {change.column!r}, which cannot change; "
                "declare it as the target has it, or declare another table and fill that"
            )


def _commit_reasons(draft: Draft, changes: Iterable[SchemaChange]) -> Iterator[str]:
    """Between two commits the old rows of the later one would stand under the new columns."""
    binding = sorted({change.column for change in changes if change.kind.binds_old_rows})
    is_at_once = choose_scope(draft.intent, draft.spec).is_at_once
    if binding and not is_at_once and len(draft.intent.days) > 1:
        yield (
            f"{', '.join(map(repr, binding))} cannot change chunk by chunk: days that are "
            "published later would not fit meanwhile; use `--publish-scope whole-run`"
        )


def _staying_reasons(
    draft: Draft, known: SchemaFacts, changes: Iterable[SchemaChange]
) -> Iterator[str]:
    for change in changes:
        if change.kind is _K.NARROWED and known.staying_days:
            found = f"holds {change.column!r} as {change.before} and is not replaced by this run"
            yield _replace_too(draft, known.staying_days, found)
        unproven = known.perhaps_null.get(change.column, ())
        if change.kind is _K.TIGHTENED and unproven:
            found = f"may hold nulls in {change.column!r} and is not replaced by this run"
            yield _replace_too(draft, unproven, found)


def _replace_too(draft: Draft, days: tuple[date, ...], found: str) -> str:
    if draft.spec.publish_mode is PublishMode.VERSIONED:
        remedy = "every version of the output stays, so declare a column of another name"
    else:
        whole = PartitionSet.of_days([*draft.intent.days, *days])
        remedy = f'ask for them too (`--days "{whole}"`), or declare a column of another name'
    return f"{name_days(days)} {found}; {remedy}"


def _return_notes(known: SchemaFacts, change: SchemaChange) -> Iterator[Note]:
    """A name that was used before: files that stay hold values under it, and readers see them."""
    held = known.held_types.get(change.column, ())
    if change.kind is not _K.ADDED or not held:
        return
    wanted = change.after or ""
    wrong = [one for one in held if one != wanted and not is_widening(one, wanted)]
    if wrong:
        yield (
            Severity.REFUSE,
            f"files that stay hold a former column {change.column!r} as {' and '.join(wrong)}, "
            f"which cannot be read as {wanted}; declare a column of another name",
        )
    else:
        yield (
            Severity.WARN,
            f"files that stay hold a former column {change.column!r}, so their rows show its "
            "values again, and no nulls",
        )
