"""What tells the contents of two partitions apart: the number of rows and a checksum over them.

The checksum is a sum and an exclusive or of row hashes over the business columns, so that it does
not depend on the order of rows, files or tasks.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import Contract
from backfill_platform.domain.measurements import Content
from backfill_platform.validator.hashing import row_hash

ROW_COUNT = "row_count"
HASH_HIGH, HASH_LOW, HASH_XOR = "hash_high", "hash_low", "hash_xor"
_HALF = 32


def content_columns(contract: Contract) -> dict[str, Column]:
    """Of any group of rows. Those of two groups together are the sums, and the exclusive or."""
    hashed = row_hash(sorted(contract.column_names))
    return {
        ROW_COUNT: F.count(F.lit(1)),
        # In halves: they cannot overflow, and whole numbers add up faster than decimals do.
        HASH_HIGH: F.sum(F.shiftright(hashed, _HALF)),
        HASH_LOW: F.sum(hashed.bitwiseAND(F.lit((1 << _HALF) - 1))),
        HASH_XOR: F.bit_xor(hashed),
    }


def read_checksum(values: Mapping[str, Any]) -> str:
    hash_sum = (values[HASH_HIGH] << _HALF) + values[HASH_LOW]
    return f"{hash_sum}:{values[HASH_XOR] & 0xFFFFFFFFFFFFFFFF:016x}"


def measure_content(
    rows: DataFrame, contract: Contract, partition_column: str
) -> dict[date, Content]:
    """Of rows that need not be staged; a day without rows is not in it."""
    day = F.col(partition_column).alias("day")
    columns = (column.alias(name) for name, column in content_columns(contract).items())
    found = rows.groupBy(day).agg(*columns).collect()
    return {row["day"]: Content(row[ROW_COUNT], read_checksum(row.asDict())) for row in found}
