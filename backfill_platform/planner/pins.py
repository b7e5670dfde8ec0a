"""What a manifest names of the inputs, the reference data and the code as they are now."""

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import PinnedInput, PinnedReference, PinnedTransform
from backfill_platform.domain.tables import Input, TableSpec
from backfill_platform.domain.transforms import TransformVersion
from backfill_platform.planner.facts import Facts
from backfill_platform.planner.references import ReferenceChoices
from backfill_platform.planner.scope import input_days, input_window


def pin_inputs(
    intent: Intent, spec: TableSpec, catalog: Catalog, facts: Facts
) -> tuple[PinnedInput, ...]:
    used = sorted(spec.inputs, key=lambda one: one.name)
    return tuple(_pin_input(one, intent, catalog, facts) for one in used)


def _pin_input(used: Input, intent: Intent, catalog: Catalog, facts: Facts) -> PinnedInput:
    known = facts.inputs[used.name]
    window = input_window(used, intent.knowledge)
    asked = input_days(intent.days, window)
    held = known.days_present.span if known.days_present else asked
    days = asked.clip(held) or asked
    return PinnedInput(
        name=used.name,
        type=known.type,
        snapshot=known.snapshot,
        days=days,
        window=window,
        files={day: digest for day, digest in known.files.items() if day in days},
        rows={day: rows for day, rows in known.rows.items() if day in days},
        schema_digest=catalog.contracts[used.name].digest,
    )


def pin_references(choices: ReferenceChoices, facts: Facts) -> tuple[PinnedReference, ...]:
    return tuple(
        PinnedReference(
            name=one.name,
            version=one.version,
            semantics=one.semantics,
            digest=facts.reference_digests[one.name][one.version],
        )
        for one in choices.chosen
    )


def pin_transform(spec: TableSpec, version: TransformVersion, facts: Facts) -> PinnedTransform:
    code = facts.code
    return PinnedTransform(
        name=spec.transform_name,
        version=version.version,
        code_digest=code.digest,
        config_hash=code.config_hash,
        git_commit=code.git_commit,
        container_image=code.container_image,
        lock_digest=code.lock_digest,
    )
