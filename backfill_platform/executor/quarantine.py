"""Keeps the rows that a transform sets aside: beside the run's staging, and never in a table.

They are raw, so less of them is kept than of staged rows: which columns, `governance.privacy`
decides; whose rows, is seen to here. How many there were, by day and reason, the validator counts.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from backfill_platform.domain.contracts import Column as Declared
from backfill_platform.domain.contracts import Contract
from backfill_platform.domain.errors import ContractBroken
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.transforms import REJECT_REASON
from backfill_platform.executor.protecting import protect_rows
from backfill_platform.lakehouse.delta_tables import create_staging_table, open_table
from backfill_platform.lakehouse.reading import replace_where

UNSAID = "no reason given"
_WRITABLE = re.compile(r"[^ ,;{}()\n\t=]+")  # all that a Delta table takes as the name of a column
_EDGES = r"^\s+|\s+$"
_NESTED = (T.StructType, T.ArrayType, T.MapType)
_SIMPLE = (
    *(T.StringType, T.BinaryType, T.BooleanType, T.DateType, T.TimestampType, T.DecimalType),
    *(T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.FloatType, T.DoubleType),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectRules:
    partition_column: str
    kept_columns: frozenset[str] | None  # beside the day and the reason; all where it is None
    protection: Protection


def rows_to_set_aside(rejects: DataFrame, manifest: Manifest, rules: RejectRules) -> DataFrame:
    """What is kept of them, or a refusal that names what is wrong with the frame.

    Invariant: whoever is listed does not come back through rows that were set aside, nor does a
    value that the table may not show (test_what_is_set_aside_shows_nothing_that_the_table_hides).
    """
    needed = (rules.partition_column, REJECT_REASON)
    _check(rejects, manifest, rules.partition_column)
    told = (name for name in rejects.columns if name not in needed)
    kept = rules.kept_columns
    names = (*needed, *(name for name in told if kept is None or name in kept))
    _check_names(names, manifest)
    rows = rejects.select(*(_as_written(rejects.schema[name]) for name in names))
    return _with_origin(_protected(rows, needed, rules.protection), manifest)


def write_rejects(
    rows: DataFrame, *, manifest: Manifest, days: DayRange, partition_column: str, path: Path
) -> None:
    """Twice equals once: each write replaces exactly the chunk's days, also by no row at all."""
    if open_table(path) is None:  # two chunks that both make it by writing to it would conflict
        create_staging_table(
            path, _contract(rows), partition_column=partition_column, extra_columns=()
        )
    writer = rows.write.format("delta").mode("overwrite").option("mergeSchema", value=True)
    try:
        writer.option("replaceWhere", replace_where(partition_column, days)).save(str(path))
    except AnalysisException as refused:
        if "DELTA_REPLACE_WHERE_MISMATCH" not in str(refused):
            raise
        raise _broken(
            manifest, f"set rows aside that lie outside {days}; each needs the day it was read for"
        ) from refused


def _check(rejects: DataFrame, manifest: Manifest, partition_column: str) -> None:
    found = {field.name: field.dataType.simpleString() for field in rejects.schema.fields}
    for name, wanted in ((partition_column, "date"), (REJECT_REASON, "string")):
        if found.get(name) != wanted:
            given = f"is {found[name]}" if name in found else "is missing"
            raise _broken(
                manifest,
                f"set rows aside in which column {name!r} {given}; rejects need "
                f"{partition_column!r} (date) and {REJECT_REASON!r} (string)",
            )


def _check_names(names: Iterable[str], manifest: Manifest) -> None:
    for name, times in Counter(name.casefold() for name in names).items():
        if times > 1 or not _WRITABLE.fullmatch(name):
            problem = "stands there twice" if times > 1 else "cannot be written"
            raise _broken(
                manifest, f"set rows aside in which column {name!r} {problem}; give it another name"
            )


def _as_written(field: T.StructField) -> Column:
    """As text where a table of the platform has no such type."""
    column = F.col(f"`{field.name}`")
    if field.name == REJECT_REASON:
        said = F.regexp_replace(column, _EDGES, "")
        return F.when(said != "", said).otherwise(UNSAID).alias(field.name)
    if isinstance(field.dataType, _NESTED):
        return F.to_json(column).alias(field.name)
    if isinstance(field.dataType, _SIMPLE):
        return column
    return column.cast("string").alias(field.name)


def _protected(rows: DataFrame, needed: tuple[str, ...], protection: Protection) -> DataFrame:
    masks = {name: mask for name, mask in protection.masks.items() if name in rows.columns}
    rows = rows.withColumns({name: F.col(name).cast("string") for name in masks})
    if protection.listed is not None:
        rows = _about_somebody(rows, needed, protection)
    return protect_rows(rows, replace(protection, masks=masks)).select(*rows.columns)


def _about_somebody(rows: DataFrame, needed: tuple[str, ...], protection: Protection) -> DataFrame:
    """Of a row that could be about anybody, a listed subject too, only day and reason are kept."""
    subject = protection.subject_column
    if subject is None or subject not in rows.columns:
        return rows.select(*needed)
    rows = rows.withColumn(subject, F.regexp_replace(F.col(subject).cast("string"), _EDGES, ""))
    is_known = F.col(subject) != ""
    others = [name for name in rows.columns if name not in (*needed, subject)]
    return rows.withColumns({name: F.when(is_known, F.col(f"`{name}`")) for name in others})


def _with_origin(rows: DataFrame, manifest: Manifest) -> DataFrame:
    """An input's own lineage would be taken for the run's, so it does not stay beside it."""
    origin = dict(_origin(manifest))
    return rows.drop(*origin).withColumns(origin)


def _origin(manifest: Manifest) -> Iterator[tuple[str, Column]]:
    yield "produced_by_run_id", F.lit(manifest.run_id)
    yield "transform_version", F.lit(f"{manifest.transform.name}/{manifest.transform.version}")
    yield "input_snapshot", F.lit(manifest.input_snapshot)


def _contract(rows: DataFrame) -> Contract:
    columns = (
        Declared(name=field.name, type=str(field.dataType.jsonValue()), is_nullable=True)
        for field in rows.schema.fields
    )
    return Contract(columns=tuple(columns), checks=())


def _broken(manifest: Manifest, problem: str) -> ContractBroken:
    transform = manifest.transform
    return ContractBroken(f"{transform.name}/{transform.version} {problem}")
