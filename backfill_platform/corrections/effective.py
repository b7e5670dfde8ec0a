"""The effective state of a table: what it holds, with its published corrections applied on top.

A correction applies as long as the original's day is the output that it corrected. Once another run
has replaced that day, its corrections are history; they apply again when that run is rolled back.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.corrections.columns import Change
from backfill_platform.corrections.subject import Subject, subject_of
from backfill_platform.corrections.texts import read_values, typed_values, with_texts
from backfill_platform.domain.contracts import LINEAGE_COLUMNS
from backfill_platform.domain.tables import TableSpec

LINEAGE = tuple(column.name for column in LINEAGE_COLUMNS)


def apply_corrections(spec: TableSpec, original: DataFrame, corrections: DataFrame) -> DataFrame:
    """The original's own columns and lineage, each row as its latest correction leaves it.

    Invariant: original and corrections together are what a replacement would have published
    (test_original_and_corrections_are_what_a_replacement_would_have_published).
    """
    subject = subject_of(spec)
    rows = effective_rows(original, corrections, subject).where("values IS NOT NULL")
    return rows.select(*typed_values(F.col("values"), subject), "lineage.*")


def effective_rows(original: DataFrame, corrections: DataFrame, subject: Subject) -> DataFrame:
    """By day and key: values as texts, nothing where there is no row; the run that they are from;
    how many corrections there ever were, and which one made the row what it is."""
    day = subject.partition_column
    held = with_texts(original, subject, key="corrects_key", values="held").select(
        day, "corrects_key", "held", F.struct(*LINEAGE).alias("held_lineage")
    )
    last = _last_corrections(with_standing(corrections, original, subject), subject)
    return held.join(last, [day, "corrects_key"], "full").select(
        day,
        "corrects_key",
        _effective_values(subject).alias("values"),
        F.coalesce("last.lineage", "held_lineage").alias("lineage"),
        F.coalesce("correction_number", F.lit(0)).alias("correction_number"),
        F.col("last.correction_id").alias("correction_id"),
    )


def with_standing(corrections: DataFrame, original: DataFrame, subject: Subject) -> DataFrame:
    """Tells corrections that apply from those whose original output has been replaced since."""
    day = subject.partition_column
    outputs = held_outputs(original, subject).withColumnRenamed("original_run_id", "held_output")
    is_standing = F.col("original_run_id").eqNullSafe(F.col("held_output"))
    return (
        corrections.join(F.broadcast(outputs), day, "left")
        .withColumn("is_standing", is_standing)
        .drop("held_output")
    )


def held_outputs(original: DataFrame, subject: Subject) -> DataFrame:
    """Whose output the original holds, by day; one run's, unless rows were appended to it."""
    runs = F.array_sort(F.collect_set("produced_by_run_id"))
    return original.groupBy(subject.partition_column).agg(
        F.array_join(runs, ",").alias("original_run_id")
    )


def _last_corrections(corrections: DataFrame, subject: Subject) -> DataFrame:
    """`said` has for each column what was said of it last: nothing where it was never corrected."""
    order = F.when(F.col("is_standing"), F.col("correction_number"))
    new = corrections.withColumn("new", read_values("new_values"))
    entries = [
        part for name in subject.column_names for part in (F.lit(name), _last_said(name, order))
    ]
    correction = F.struct("change", "correction_id", F.struct(*LINEAGE).alias("lineage"))
    return new.groupBy(subject.partition_column, "corrects_key").agg(
        F.max("correction_number").alias("correction_number"),
        F.max_by(correction, order).alias("last"),
        F.create_map(*entries).alias("said"),
    )


def _last_said(name: str, order: Column) -> Column:
    """In a struct, because null may be what was said."""
    new = F.col("new")
    value = F.struct(F.try_element_at(new, F.lit(name)).alias("text"))
    return F.max_by(value, F.when(F.map_contains_key(new, name), order))


def _effective_values(subject: Subject) -> Column:
    entries = [part for name in subject.column_names for part in (F.lit(name), _latest(name))]
    last = F.col("last")
    return F.when(last.isNull(), F.col("held")).when(
        last["change"] != Change.REMOVED.value, F.create_map(*entries)
    )


def _latest(name: str) -> Column:
    said, held = F.col("said")[name], F.col("held")[name]
    return F.when(said.isNotNull(), said["text"]).otherwise(held)
