"""Which days a run need not compute: all that they are computed from is as it was then.

A day is left as it is accepted where the run that computed it had the same code, configuration,
distributions, reference data, deletion list, declarations and windows, where every input day in its
window held then what it holds now (`read_alike`), and where the target still holds what that run
left there, or found there as it came out.

Invariant: what cannot be proved is computed (test_what_differs_is_computed), and so is what is used
as a whole: a month that a table may not cut is left whole or not at all
(test_a_month_is_left_whole_or_not_at_all).
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import (
    Manifest,
    PinnedInput,
    PinnedReference,
    PinnedTransform,
    UnchangedDays,
    Validation,
)
from backfill_platform.domain.modes import (
    ExecutionMode,
    LiveConflicts,
    PublishMode,
    PublishScope,
    RunKind,
)
from backfill_platform.domain.partitions import Boundary, DayRange, PartitionSet
from backfill_platform.domain.schema_changes import compare_schemas
from backfill_platform.domain.tables import TableSpec
from backfill_platform.planner.facts import Facts
from backfill_platform.planner.pins import pin_inputs, pin_references, pin_transform
from backfill_platform.planner.read_alike import comparison_digest, has_read_alike
from backfill_platform.planner.references import choose_references
from backfill_platform.planner.scope import choose_transform
from backfill_platform.planner.validation import pin_validation

JOINED_GAP_DAYS = 3  # to compute so few in between costs less than to begin once more

# A reprocessing, a replay or a repair is asked for so that something is computed.
_KINDS = frozenset({RunKind.BACKFILL, RunKind.RESTATEMENT})
_SCOPES = frozenset({PublishScope.PROGRESSIVE, PublishScope.WHOLE_RUN})

# What of its own run a transform may read: the mode is often the same, these never are.
MODE = "mode"
OF_ONE_RUN = frozenset({"run_id", "reason", "run_started_at"})


def may_leave_days(intent: Intent, spec: TableSpec) -> bool:
    """Whether it is worth a look at what is accepted."""
    return (
        spec.skips_unchanged
        and not intent.computes_all
        and intent.kind in _KINDS
        and intent.mode is ExecutionMode.BACKFILL
        and spec.publish_mode is PublishMode.REPLACE_PARTITIONS
        and spec.live_conflicts is LiveConflicts.FREEZE
        and (intent.publish_scope or spec.usual_scope) in _SCOPES
    )


def find_unchanged(
    intent: Intent, spec: TableSpec, catalog: Catalog, facts: Facts
) -> tuple[UnchangedDays, ...]:
    """By the run that computed them, in the order of their first days."""
    now = _pin(intent, spec, catalog, facts) if may_leave_days(intent, spec) else None
    if now is None or _changes_columns(facts) or facts.code.run_words & OF_ONE_RUN:
        return ()
    alike = {
        run_id for run_id, former in facts.former.manifests.items() if _is_made_alike(former, now)
    }
    found = {
        day: unit
        for unit in _units(intent.days, spec.boundary)
        if _is_unchanged(unit, alike, facts, now)
        for day in unit
    }
    return tuple(_by_run(found, facts, now))


def short_gaps(chunks: Collection[DayRange], unchanged: Collection[date]) -> frozenset[date]:
    """Of the unchanged days those that lie in short gaps between days that are computed: they are
    computed as well, so that a chunk is not cut into many small parts."""
    return frozenset(
        day for chunk in chunks for gap in _short_gaps(chunk, unchanged) for day in gap
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Now:
    """What the run would be computed with, as its manifest will name it."""

    transform: PinnedTransform
    references: tuple[PinnedReference, ...]
    inputs: tuple[PinnedInput, ...]
    validation: Validation
    schema_digest: str
    boundary: Boundary
    intent: Intent
    facts: Facts


def _pin(intent: Intent, spec: TableSpec, catalog: Catalog, facts: Facts) -> _Now | None:
    transform = choose_transform(spec, intent.transform_version)
    if transform is None:
        return None
    choices = choose_references(
        spec, intent, catalog, today=facts.now.date(), original=facts.original_references
    )
    return _Now(
        transform=pin_transform(spec, transform, facts),
        references=pin_references(choices, facts),
        inputs=pin_inputs(intent, spec, catalog, facts),
        validation=pin_validation(spec, intent),
        schema_digest=catalog.contracts[intent.table].digest,
        boundary=spec.boundary,
        intent=intent,
        facts=facts,
    )


def _changes_columns(facts: Facts) -> bool:
    """A run that changes them writes every day that it names in the new ones."""
    schema = facts.target.schema
    return schema is None or bool(compare_schemas(schema.columns, schema.declared))


def _is_made_alike(former: Manifest, now: _Now) -> bool:
    return (
        _code(former.transform) == _code(now.transform)
        and _versions(former.references) == _versions(now.references)
        and _shapes(former.inputs) == _shapes(now.inputs)
        and former.deletions == now.facts.deletions
        and former.knowledge is now.intent.knowledge
        and former.target.publish_mode is PublishMode.REPLACE_PARTITIONS
        and former.target.boundary is now.boundary
        and former.target.schema_digest == now.schema_digest
        and _is_judged_alike(former.validation, now.validation)
        and (former.mode is now.intent.mode or MODE not in now.facts.code.run_words)
    )


def _code(pinned: PinnedTransform) -> tuple[str | None, ...]:
    """Which commit it came from says nothing that its digest does not."""
    return (
        pinned.name,
        pinned.version,
        pinned.code_digest,
        pinned.config_hash,
        pinned.container_image,
        pinned.lock_digest,
    )


def _versions(references: tuple[PinnedReference, ...]) -> list[tuple[str, str, str]]:
    return sorted((one.name, one.version, one.digest) for one in references)


def _shapes(inputs: tuple[PinnedInput, ...]) -> list[tuple[object, ...]]:
    return [(one.name, one.type, one.window, one.schema_digest) for one in inputs]


def _is_judged_alike(then: Validation, now: Validation) -> bool:
    """Its figures are taken over, and the verdict on what its inputs say."""
    return (
        then.quality_digest is not None
        and then.quality_digest == now.quality_digest
        and then.tolerances == now.tolerances
        and {*now.gates} <= {*then.gates}
    )


def _units(days: PartitionSet, boundary: Boundary) -> Iterator[DayRange]:
    for unit in dict.fromkeys(DayRange.of_day(day).widen_to(boundary) for day in days):
        if days.covers(unit):
            yield unit


def _is_unchanged(unit: DayRange, alike: Collection[RunId], facts: Facts, now: _Now) -> bool:
    former = facts.former
    runs = {former.shown.get(day) for day in unit}
    return all(
        run_id is not None
        and run_id in alike
        and has_read_alike(unit, former.manifests[run_id].inputs, now.inputs, former.tables)
        for run_id in runs
    )


def _by_run(found: dict[date, DayRange], facts: Facts, now: _Now) -> Iterator[UnchangedDays]:
    former = facts.former
    digests = {run_id: manifest.digest for run_id, manifest in former.manifests.items()}
    compared: dict[RunId, dict[date, str]] = defaultdict(dict)
    for day, unit in sorted(found.items()):
        run_id = former.shown[day]
        compared[run_id][day] = comparison_digest(
            unit, digests[run_id], former.contents[day], now.inputs, former.tables
        )
    for run_id, days in compared.items():
        yield UnchangedDays(run_id=run_id, manifest_digest=digests[run_id], compared=days)


def _short_gaps(chunk: DayRange, unchanged: Collection[date]) -> Iterator[DayRange]:
    left = [day for day in chunk if day in unchanged]
    for gap in PartitionSet.of_days(left).ranges if left else ():
        is_between = chunk.start < gap.start and gap.end_exclusive < chunk.end_exclusive
        if is_between and len(gap) <= JOINED_GAP_DAYS:
            yield gap
