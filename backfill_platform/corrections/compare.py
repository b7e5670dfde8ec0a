"""The transform of a table of corrections: corrected output against the effective state, by key.

The original's own transform computes what its days should hold; what differs from what they are
said to hold becomes a row. The original is read and never written; the same inputs, original and
earlier corrections give the same rows, whoever asks again
(test_the_same_run_gives_the_same_corrections_again).
"""

from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.corrections.columns import CORRECTION_COLUMNS, Change
from backfill_platform.corrections.effective import effective_rows, held_outputs
from backfill_platform.corrections.subject import Subject
from backfill_platform.corrections.texts import with_texts, write_values
from backfill_platform.domain.errors import ContractBroken
from backfill_platform.domain.transforms import (
    Computed,
    Frames,
    TransformContext,
    TransformFunction,
)


def correct(
    original: TransformFunction, subject: Subject, frames: Frames, context: TransformContext
) -> DataFrame | Computed:
    """Rows that the original's transform sets aside are set aside here as well."""
    day, held = subject.partition_column, frames.inputs[subject.table]
    computed = corrected_rows(original, subject, frames, context)
    corrected = with_texts(computed.rows, subject, key="corrects_key", values="to")
    effective = effective_rows(held, frames.base, subject).withColumnRenamed("values", "from")
    differing = (
        effective.join(corrected.select(day, "corrects_key", "to"), [day, "corrects_key"], "full")
        .where(~F.to_json("from").eqNullSafe(F.to_json("to")))
        .join(F.broadcast(held_outputs(held, subject)), day, "left")
        .withColumns(_what_is_said(subject))
        .withColumns(_who_says_so(subject, context))
        .withColumn("correction_id", _identity())
        .select(day, *(column.name for column in CORRECTION_COLUMNS))
    )
    return differing if computed.rejects is None else replace(computed, rows=differing)


def corrected_rows(
    original: TransformFunction, subject: Subject, frames: Frames, context: TransformContext
) -> Computed:
    """As a run of the original would compute them; it is not shown what it is compared with."""
    inputs = {name: frame for name, frame in frames.inputs.items() if name != subject.table}
    computed = Computed.of(original(Frames(inputs=inputs, references=frames.references), context))
    found = {field.name: field.dataType.jsonValue() for field in computed.rows.schema.fields}
    differing = sorted({name for name, _ in found.items() ^ dict(subject.columns).items()})
    if differing:
        raise ContractBroken(
            f"{context.transform_name}/{context.transform_version} does not keep the schema of "
            f"{subject.table}: it differs in {', '.join(differing)}. Mend the transform or the "
            "declared schema"
        )
    return replace(computed, rows=_rounded(computed.rows, subject))


def _rounded(rows: DataFrame, subject: Subject) -> DataFrame:
    """As a run of the original rounds what it stages."""
    if not subject.rounded:
        return rows
    return rows.withColumns({name: F.expr(sql) for name, sql in subject.rounded})


def _what_is_said(subject: Subject) -> dict[str, Column]:
    old, new = F.col("from"), F.col("to")
    change = (
        F.when(old.isNull(), Change.ADDED.value)
        .when(new.isNull(), Change.REMOVED.value)
        .otherwise(Change.CHANGED.value)
    )
    return {
        "change": change,
        "old_values": write_values(_differing(old, new)),
        "new_values": write_values(_differing(new, old)),
        "correction_number": F.coalesce("correction_number", F.lit(0)) + 1,
        "corrects_run_id": F.when(old.isNotNull(), F.col("lineage.produced_by_run_id")),
        "corrects_correction_id": F.col("correction_id"),
    }


def _differing(values: Column, others: Column) -> Column:
    """All values where there are no others: of a row that is added or removed."""
    changed = F.map_filter(values, lambda name, value: ~value.eqNullSafe(others[name]))
    return F.when(others.isNull(), values).otherwise(changed)


def _who_says_so(subject: Subject, context: TransformContext) -> dict[str, Column]:
    return {
        "event_type": F.lit(subject.event_type),
        "corrects_table": F.lit(subject.table),
        "reason": F.lit(context.reason),
    }


def _identity() -> Column:
    """Anybody can compute it: SHA-256 over five lines. JSON keeps line ends out of them."""
    parts = ("corrects_table", "corrects_key", "correction_number", "old_values", "new_values")
    lines = [F.coalesce(F.col(name).cast("string"), F.lit("")) for name in parts]
    return F.sha2(F.concat_ws("\n", *lines), 256)
