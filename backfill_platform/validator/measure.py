"""One Spark aggregation over the staged rows of a chunk, grouped by partition.

It only counts; `gates` decides what the numbers mean. Nothing here runs once per partition.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import Contract
from backfill_platform.domain.measurements import PartitionMeasurement, SourceMeasurement
from backfill_platform.domain.privacy import Protection
from backfill_platform.validator.checks import failing_rows
from backfill_platform.validator.hashing import row_hash
from backfill_platform.validator.privacy import count_private_rows, with_listed_subjects

_NULLS = "nulls__"
_CHECKS = "checks__"
_MEASURES = "measures__"
_PRIVATE = "private__"
_NOTHING_TO_PROTECT = Protection()


def measure_staged(
    rows: DataFrame,
    *,
    contract: Contract,
    partition_column: str,
    keys: Sequence[str],
    measures: Mapping[str, str],
    protection: Protection = _NOTHING_TO_PROTECT,
) -> tuple[PartitionMeasurement, ...]:
    found = (
        with_listed_subjects(rows, protection)
        .groupBy(F.col(partition_column).alias("day"))
        .agg(
            F.count(F.lit(1)).alias("row_count"),
            *_checksum(contract),
            (F.count(F.lit(1)) - F.count_distinct(row_hash(keys))).alias("duplicate_keys"),
            *_null_counts(contract),
            *_check_failures(contract),
            *_measures(measures),
            *_private_rows(protection),
        )
        .collect()
    )
    return tuple(sorted((_read(row) for row in found), key=lambda measured: measured.day))


def measure_source(
    totals: DataFrame, *, partition_column: str, measures: Sequence[str]
) -> tuple[SourceMeasurement, ...]:
    """What the declared reckoning over the inputs gives, by day of output."""
    found = totals.select(F.col(partition_column).alias("day"), *measures).collect()
    return tuple(
        SourceMeasurement(day=row["day"], measures={name: int(row[name] or 0) for name in measures})
        for row in sorted(found, key=_day)
    )


def _day(row: Row) -> date:
    return row["day"]


def _checksum(contract: Contract) -> Iterator[Column]:
    """Sum and exclusive or do not depend on the order of rows, files or tasks."""
    hashed = row_hash(sorted(contract.column_names))
    yield F.sum(hashed.cast("decimal(38,0)")).alias("hash_sum")
    yield F.bit_xor(hashed).alias("hash_xor")


def _null_counts(contract: Contract) -> Iterator[Column]:
    for column in contract.columns:
        if not column.is_nullable:
            yield F.count_if(F.col(column.name).isNull()).alias(_NULLS + column.name)


def _check_failures(contract: Contract) -> Iterator[Column]:
    for check in contract.checks:
        yield failing_rows(check).alias(_CHECKS + check.name)


def _measures(measures: Mapping[str, str]) -> Iterator[Column]:
    for name, expression in measures.items():
        yield F.expr(expression).cast("bigint").alias(_MEASURES + name)


def _private_rows(protection: Protection) -> Iterator[Column]:
    for promise, counted in count_private_rows(protection).items():
        yield counted.alias(_PRIVATE + promise)


def _read(row: Row) -> PartitionMeasurement:
    values: dict[str, Any] = row.asDict()
    return PartitionMeasurement(
        day=values["day"],
        row_count=values["row_count"],
        checksum=f"{values['hash_sum']}:{values['hash_xor'] & 0xFFFFFFFFFFFFFFFF:016x}",
        duplicate_keys=values["duplicate_keys"],
        null_counts=_with_prefix(values, _NULLS),
        check_failures=_with_prefix(values, _CHECKS),
        measures=_with_prefix(values, _MEASURES),
        private_rows=_with_prefix(values, _PRIVATE),
    )


def _with_prefix(values: Mapping[str, Any], prefix: str) -> dict[str, int]:
    return {
        name.removeprefix(prefix): int(value or 0)
        for name, value in values.items()
        if name.startswith(prefix)
    }
