"""Proves that Spark and delta-rs read each other's tables here, in a folder that is thrown away."""

from pathlib import Path
from typing import TYPE_CHECKING

import deltalake
import pyarrow as pa

from backfill_platform.domain.errors import SetupIncomplete

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROWS = (1, 2, 3)


def prove_round_trip(spark: "SparkSession", folder: Path) -> None:
    by_spark, by_delta_rs = str(folder / "by_spark"), str(folder / "by_delta_rs")
    spark.createDataFrame([(row,) for row in _ROWS], "id long").write.format("delta").save(by_spark)
    deltalake.write_deltalake(by_delta_rs, pa.table({"id": pa.array(_ROWS, pa.int64())}))

    seen_by_delta_rs = deltalake.DeltaTable(by_spark).to_pyarrow_table()["id"].to_pylist()
    seen_by_spark = [row.id for row in spark.read.format("delta").load(by_delta_rs).collect()]
    _compare("delta-rs", "Spark", seen_by_delta_rs)
    _compare("Spark", "delta-rs", seen_by_spark)


def _compare(reader: str, writer: str, seen: list[int]) -> None:
    if sorted(seen) != list(_ROWS):
        raise SetupIncomplete(
            f"{reader} reads {sorted(seen)} where {writer} wrote {list(_ROWS)}. "
            "The versions do not fit together: run `make clean setup`."
        )
