"""What tells the contents of two partitions apart: the number of rows and a checksum over them.

The checksum is a sum and an exclusive or of row hashes over the business columns, so that it does
not depend on the order of rows, files or tasks.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import Contract
from backfill_platform.domain.measurements import Content
from backfill_platform.validator.hashing import row_hash

ROW_COUNT = "row_count"
_HALF = 32


def content_columns(contract: Contract) -> Iterator[Column]:
    hashed = row_hash(sorted(contract.column_names))
    yield F.count(F.lit(1)).alias(ROW_COUNT)
    # In halves: they cannot overflow, and whole numbers add up faster than decimals do.
    yield F.sum(F.shiftright(hashed, _HALF)).alias("hash_high")
    yield F.sum(hashed.bitwiseAND(F.lit((1 << _HALF) - 1))).alias("hash_low")
    yield F.bit_xor(hashed).alias("hash_xor")


def read_checksum(values: Mapping[str, Any]) -> str:
    hash_sum = (values["hash_high"] << _HALF) + values["hash_low"]
    return f"{hash_sum}:{values['hash_xor'] & 0xFFFFFFFFFFFFFFFF:016x}"


def measure_content(
    rows: DataFrame, contract: Contract, partition_column: str
) -> dict[date, Content]:
    """Of rows that need not be staged; a day without rows is not in it."""
    day = F.col(partition_column).alias("day")
    found = rows.groupBy(day).agg(*content_columns(contract)).collect()
    return {row["day"]: Content(row[ROW_COUNT], read_checksum(row.asDict())) for row in found}
