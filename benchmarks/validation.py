"""The same suite of checks by pandera's own engine and by the single pass.

Ten checks and the nullability of each column, over rows as wide as the reference domain's cases, in
one Delta table and one warm session; the verdicts on each partition are compared. pandera is asked
as a user would ask it, once for each partition, for it gives one verdict on a frame; and, to be
fair, once for all rows, which tells no partition.
"""

import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import pandera.pyspark as pa
import pyspark.sql.types as T
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from backfill_platform.validator.contract import read_contract
from backfill_platform.validator.measure import measure_staged
from backfill_platform.validator.measure_plan import MeasurePlan

START, DAYS, ROWS_EACH, ROUNDS = date(2025, 1, 1), 30, 100_000, 3
HEADER = "| asked | answers | least, median | times the single pass |"
Found = TypeVar("Found")
_TEXTS = ("US-CA", "US-NY", "US-TX")


class Cases(pa.DataFrameModel):
    """`age_days` fails on the last day alone, so that verdicts differ."""

    day: T.DateType = pa.Field(nullable=False)
    case_id: T.StringType = pa.Field(nullable=False, str_matches="^CASE-[0-9]{9}$")
    jurisdiction: T.StringType = pa.Field(nullable=False, isin=list(_TEXTS))
    case_class: T.StringType = pa.Field(nullable=False, notin=["UNKNOWN"])
    state: T.StringType = pa.Field(nullable=False, isin=["OPEN", "PAUSED", "CLOSED"])
    opened_at: T.TimestampType = pa.Field(nullable=False, ge="2020-01-01")
    due_at: T.TimestampType = pa.Field(nullable=False)
    decided_at: T.TimestampType = pa.Field(nullable=True)
    paused_seconds: T.LongType = pa.Field(nullable=False, ge=0)
    paused_days: T.IntegerType = pa.Field(nullable=False, in_range=(0, 30))
    age_days: T.IntegerType = pa.Field(nullable=False, lt=400)
    escalated: T.BooleanType = pa.Field(nullable=False)
    is_breached: T.BooleanType = pa.Field(nullable=False)
    event_count: T.IntegerType = pa.Field(nullable=False, gt=0)
    fine: T.DecimalType = pa.Field(nullable=False, ge=0, dtype_kwargs={"precision": 12, "scale": 2})


def suite_table(spark: SparkSession, folder: Path) -> Iterator[str]:
    """Line by line, as docs/benchmarks.md has it."""
    rows = _cases(spark, folder / "cases")
    days = [START + timedelta(days=number) for number in range(DAYS)]
    single, found = _rounds(lambda: _by_single_pass(rows))
    whole, _ = _rounds(lambda: _by_pandera(rows))
    each, expected = _rounds(
        lambda: {day: _by_pandera(rows.where(F.col("day") == F.lit(day))) for day in days}
    )
    if found != expected:
        raise AssertionError(f"pandera finds {expected}, and the single pass {found}")
    yield HEADER
    yield "|---|---|---|---|"
    yield _line("the single pass", "each partition, checksum, keys", single, single)
    yield _line("pandera, for each partition", "each partition", each, single)
    yield _line("pandera, once for all rows", "all rows together", whole, single)


def _cases(spark: SparkSession, path: Path) -> DataFrame:
    drawn = F.xxhash64("id")
    day = F.date_add(F.lit(START), (F.col("id") % DAYS).cast("int"))
    is_old = F.col("id") == DAYS - 1
    columns: dict[str, Column] = {
        "day": day,
        "case_id": F.format_string("CASE-%09d", F.col("id")),
        "jurisdiction": _one_of(drawn, _TEXTS),
        "case_class": _one_of(drawn, ("STANDARD", "URGENT")),
        "state": _one_of(drawn, ("OPEN", "PAUSED", "CLOSED")),
        "opened_at": _instant(day, drawn),
        "due_at": _instant(F.date_add(day, 10), drawn),
        "decided_at": F.when(drawn % 4 == 0, _instant(day, drawn)),
        "paused_seconds": _below(drawn, 100_000),
        "paused_days": _below(drawn, 30).cast("int"),
        "age_days": F.when(is_old, 400).otherwise(_below(drawn, 399)).cast("int"),
        "escalated": drawn % 11 == 0,
        "is_breached": drawn % 7 == 0,
        "event_count": (_below(drawn, 9) + 1).cast("int"),
        "fine": (_below(drawn, 1_000_000) / 100).cast("decimal(12,2)"),
    }
    made = spark.range(DAYS * ROWS_EACH).select(*(one.alias(name) for name, one in columns.items()))
    made.write.format("delta").partitionBy("day").save(str(path))
    return spark.read.format("delta").load(str(path))


def _below(drawn: Column, limit: int) -> Column:
    return F.pmod(drawn, F.lit(limit))


def _one_of(drawn: Column, texts: tuple[str, ...]) -> Column:
    number = (_below(drawn, len(texts)) + 1).cast("int")
    return F.element_at(F.array(*(F.lit(text) for text in texts)), number)


def _instant(day: Column, drawn: Column) -> Column:
    return F.timestamp_seconds(F.unix_date(day).cast("bigint") * 86_400 + _below(drawn, 86_400))


def _by_single_pass(rows: DataFrame) -> dict[date, bool]:
    plan = MeasurePlan(
        table="silver.cases",
        contract=read_contract(Cases),
        partition_column="day",
        keys=("day", "case_id"),
    )
    return {
        found.day: not any((*found.null_counts.values(), *found.check_failures.values()))
        for found in measure_staged(rows, plan)
    }


def _by_pandera(rows: DataFrame) -> bool:
    validated: Any = Cases.to_schema().validate(rows)
    return not validated.pandera.errors


def _rounds(work: Callable[[], Found]) -> tuple[list[float], Found]:
    """Once to warm up, and then for the clock; what was found last."""
    found, taken = work(), list[float]()
    for _ in range(ROUNDS):
        began = time.perf_counter()
        found = work()
        taken.append(time.perf_counter() - began)
    return taken, found


def _line(asked: str, answers: str, taken: list[float], single: list[float]) -> str:
    cells = (
        asked,
        answers,
        f"{min(taken):.1f} s, {median(taken):.1f} s",
        f"{median(taken) / median(single):.1f}",
    )
    return f"| {' | '.join(cells)} |"
