"""`corrections_of(spec)`: the table of another table's corrections, as an ordinary declaration.

Planned, approved, staged, judged, published and rolled back like any table. Where history must not
be overwritten, it is published instead of a restatement: the original stays as it was.
"""

from functools import partial

from backfill_platform.corrections.compare import correct
from backfill_platform.corrections.contract import derive_contract
from backfill_platform.corrections.events import announce_on
from backfill_platform.corrections.reconcile import measures_of_corrections, reconcile
from backfill_platform.corrections.subject import Subject, subject_of
from backfill_platform.domain.contracts import DerivedContract
from backfill_platform.domain.modes import PublishMode
from backfill_platform.domain.quality import Quality
from backfill_platform.domain.tables import Input, KeyedMerge, Reconciliation, TableSpec
from backfill_platform.domain.transforms import TransformVersion

_TIES = "Corrections of one key have numbers of their own, and a gate counts those that have not."


def corrections_of(spec: TableSpec, *, topic: str | None = None) -> TableSpec:
    """On a `topic` of their own, corrections are also told as events."""
    subject = subject_of(spec)
    return TableSpec(
        layer=spec.layer,
        name=f"{spec.name}_corrections",
        partition_column=spec.partition_column,
        start=spec.start,
        keys=(spec.partition_column, "correction_id"),
        schema=DerivedContract(of=spec.schema, derive=partial(derive_contract, subject)),
        inputs=(*spec.inputs, Input(name=spec.full_name)),
        transform_name=spec.transform_name,
        transforms=tuple(_correcting(known, subject) for known in spec.transforms),
        reconciliation=Reconciliation(
            from_inputs=partial(reconcile, spec, subject),
            from_output=measures_of_corrections(spec),
        ),
        owner=spec.owner,
        description=f"Corrections of {spec.full_name}, each with what was, what is and why.",
        references=spec.references,
        # Earlier corrections of a day stay beside those that a run finds.
        publish_mode=PublishMode.MERGE_BY_KEY,
        merge=KeyedMerge(version_column="correction_number"),
        publish_scope=spec.publish_scope,
        chunk_days=spec.chunk_days,
        boundary=spec.boundary,
        limits=spec.limits,
        classification=spec.classification,
        retention_days=spec.retention_days,
        config=spec.config,
        may_be_empty=True,
        # Computed by the original's transform, it sets as many rows aside, of days closed alike.
        quality=Quality(rejects_most=spec.quality.rejects_most, watermark=spec.quality.watermark),
        announcement=announce_on(topic) if topic else None,
    )


def _correcting(known: TransformVersion, subject: Subject) -> TransformVersion:
    return TransformVersion(
        version=known.version,
        # Bound by place, so that the code digest follows the original's function into its code.
        function=partial(correct, known.function, subject),
        released_on=known.released_on,
        note=known.note,
        ties=f"{known.ties} {_TIES}".strip(),
    )
