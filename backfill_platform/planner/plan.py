"""Intent, catalog and facts become a manifest, or a refusal that names every reason at once.

Pure: the same intent, catalog and facts give the same manifest and so the same digest. It knows
nothing of how the facts were found or how the manifest will be carried out.
"""

from collections.abc import Iterator

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.identity import GroupId, RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import (
    Manifest,
    PinnedInput,
    PinnedReference,
    PinnedTarget,
    PinnedTransform,
)
from backfill_platform.domain.modes import ExecutionMode, RunKind
from backfill_platform.domain.tables import Input, TableSpec
from backfill_platform.planner.facts import Facts
from backfill_platform.planner.scope import (
    choose_references,
    choose_transform,
    input_days,
    input_window,
    missing_days,
)


def find_table(catalog: Catalog, table: str) -> TableSpec:
    spec = catalog.tables.get(table)
    if spec is None:
        known = ", ".join(catalog.tables)
        raise PlanRefused((f"there is no table {table!r}; declared are {known}",))
    return spec


def check_intent(intent: Intent, catalog: Catalog) -> TableSpec:
    """What can be refused before any fact is gathered."""
    spec = find_table(catalog, intent.table)
    reasons = tuple(_intent_reasons(intent, spec, catalog))
    if reasons:
        raise PlanRefused(reasons)
    return spec


def build_manifest(intent: Intent, catalog: Catalog, facts: Facts, run_id: RunId) -> Manifest:
    spec = check_intent(intent, catalog)
    reasons = (*_future_reasons(intent, facts), *_input_reasons(intent, spec, facts))
    transform = choose_transform(spec, intent.transform_version)
    if reasons or transform is None:
        raise PlanRefused(tuple(reasons))
    return Manifest(
        run_id=run_id,
        group_id=GroupId(intent.group_id),
        kind=intent.kind,
        mode=intent.mode,
        knowledge=intent.knowledge,
        reason=intent.reason,
        ticket=intent.ticket,
        requested_by=intent.requested_by,
        planned_at=facts.now,
        inputs=tuple(_pin_input(used, intent, facts) for used in spec.inputs),
        references=_pin_references(intent, spec, facts),
        transform=PinnedTransform(
            name=spec.transform_name,
            version=transform.version,
            code_digest=facts.code_digest,
            config_hash=facts.config_hash,
            git_commit=facts.git_commit,
        ),
        target=_pin_target(intent, spec, facts),
        chunk_days=spec.chunk_days,
    )


def _intent_reasons(intent: Intent, spec: TableSpec, catalog: Catalog) -> Iterator[str]:
    if not intent.reason.strip():
        yield "it names no reason; say why these numbers change (tag `backfill/reason`)"
    if (intent.kind is RunKind.LIVE) != (intent.mode is ExecutionMode.LIVE):
        yield f"kind {intent.kind} and mode {intent.mode} do not go together"
    if intent.days.span.start < spec.start:
        yield f"{intent.table} starts on {spec.start}, the range on {intent.days.span.start}"
    if choose_transform(spec, intent.transform_version) is None:
        known = ", ".join(known.version for known in spec.transforms)
        yield f"{intent.table} has no transform {intent.transform_version!r}; it has {known}"
    for name, choice in intent.references.items():
        yield from _reference_reasons(name, choice.version, spec, catalog)


def _reference_reasons(name: str, version: str, spec: TableSpec, catalog: Catalog) -> Iterator[str]:
    if name not in (use.name for use in spec.references):
        yield f"{spec.full_name} does not use reference data {name!r}"
    elif version not in (known.version for known in catalog.references[name].versions):
        known = ", ".join(known.version for known in catalog.references[name].versions)
        yield f"reference data {name!r} has no version {version!r}; it has {known}"


def _future_reasons(intent: Intent, facts: Facts) -> Iterator[str]:
    if intent.days.span.last > facts.now.date():
        yield f"{intent.days.span.last} lies in the future (today is {facts.now.date()})"


def _input_reasons(intent: Intent, spec: TableSpec, facts: Facts) -> Iterator[str]:
    for used in spec.inputs:
        missing = missing_days(intent.days, facts.inputs[used.name].days_present)
        if missing:
            yield (
                f"input {used.name} holds nothing for {len(missing)} of the {len(intent.days)} "
                f"days (first {missing[0]}); load it first"
            )


def _pin_input(used: Input, intent: Intent, facts: Facts) -> PinnedInput:
    known = facts.inputs[used.name]
    window = input_window(used, intent.knowledge)
    asked = input_days(intent.days, window)
    held = known.days_present.span if known.days_present else asked
    return PinnedInput(
        name=used.name,
        snapshot=known.snapshot,
        days=asked.clip(held) or asked,
        window=window,
        files=known.files,
    )


def _pin_references(intent: Intent, spec: TableSpec, facts: Facts) -> tuple[PinnedReference, ...]:
    return tuple(
        PinnedReference(
            name=name,
            version=choice.version,
            semantics=choice.semantics,
            digest=facts.reference_digests[name],
        )
        for name, choice in choose_references(spec, intent).items()
    )


def _pin_target(intent: Intent, spec: TableSpec, facts: Facts) -> PinnedTarget:
    return PinnedTarget(
        table=intent.table,
        publish_mode=spec.publish_mode,
        partitions=intent.days,
        base_version=facts.target.version,
        base={
            day: digest for day, digest in facts.target.fingerprints.items() if day in intent.days
        },
    )
