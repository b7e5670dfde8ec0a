"""The guard over plans that Spark makes: of every transform of the project, and of worse ones."""

from datetime import UTC, date, datetime

import pytest
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from backfill_platform.corrections.declare import corrections_of
from backfill_platform.domain.catalog import Catalog, Declarations, build_catalog
from backfill_platform.domain.contracts import LINEAGE_COLUMNS
from backfill_platform.domain.determinism import Cause, Sighting
from backfill_platform.domain.modes import ExecutionMode, Knowledge
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.transforms import Computed, Frames, InputWindow, TransformContext
from backfill_platform.enforcement.catalog import CATALOG as ENFORCEMENT
from backfill_platform.executor.examining import BASE, examine_transform
from backfill_platform.executor.staging import rounded
from backfill_platform.validator.contract import read_contract, spark_schema
from backfill_platform_tests import aside, modes, readings
from backfill_platform_tests.kafka import declared
from backfill_platform_tests.scenarios import orders

DAYS = DayRange(date(2025, 1, 1), date(2025, 1, 8))


def with_corrections(given: Declarations) -> Catalog:
    """Every table, and the corrections of each that may have some."""
    corrected = tuple(corrections_of(spec) for spec in given.tables)
    everything = Declarations(
        sources=given.sources,
        references=given.references,
        tables=(*given.tables, *corrected),
        deletions=given.deletions,
    )
    return build_catalog(everything, read_contract)


ENFORCED = with_corrections(ENFORCEMENT)
READ = with_corrections(readings.DECLARATIONS)
OTHERS = [
    build_catalog(one.DECLARATIONS, read_contract) for one in (modes, aside, orders, declared)
]
TABLES = [
    pytest.param(catalog, spec, version, id=f"{spec.full_name}/{version.version}")
    for catalog in (ENFORCED, READ, *OTHERS)
    for spec in catalog.tables.values()
    for version in spec.transforms
]


def context_of(spec: TableSpec) -> TransformContext:
    return TransformContext(
        run_id="run",
        mode=ExecutionMode.BACKFILL,
        knowledge=Knowledge.UP_TO_SNAPSHOT,
        reason="said at now(), of the first( of them",
        run_started_at=datetime(2026, 7, 4, tzinfo=UTC),
        transform_name=spec.transform_name,
        transform_version=spec.transforms[-1].version,
        config_hash="none",
        publish_days=DAYS,
        windows={
            used.name: InputWindow(before_days=used.warm_up_days, after_days=used.late_days)
            for used in spec.inputs
        },
        reference_versions={use.name: use.version for use in spec.references},
    )


def empty(spark: SparkSession, catalog: Catalog, name: str) -> DataFrame:
    contract = catalog.contracts[name]
    business = spark_schema(contract).fields
    lineage = [] if name in catalog.sources else lineage_fields()
    return spark.createDataFrame([], StructType([*business, *lineage]))


def lineage_fields() -> list[StructField]:
    return [StructField(column.name, StringType()) for column in LINEAGE_COLUMNS]


def frames_of(spark: SparkSession, catalog: Catalog, spec: TableSpec) -> Frames:
    loaded = {}
    for use in spec.references:
        reference = catalog.references[use.name]
        known = next(one for one in reference.versions if one.version == use.version)
        loaded[use.name] = reference.load(known.path)
    return Frames(
        inputs={used.name: empty(spark, catalog, used.name) for used in spec.inputs},
        references=loaded,
        base=empty(spark, catalog, spec.full_name) if spec.merge else None,
    )


def keys_of(catalog: Catalog, spec: TableSpec) -> dict[str, tuple[str, ...]]:
    keys = {
        used.name: catalog.tables[used.name].keys
        for used in spec.inputs
        if used.name in catalog.tables
    }
    return {**keys, BASE: spec.keys}


@pytest.mark.parametrize(("catalog", "spec", "version"), TABLES)
def test_every_declared_transform_passes_or_says_why_its_order_is_open(
    spark, catalog, spec, version
) -> None:
    found = examine_transform(
        version.function,
        frames_of(spark, catalog, spec),
        context_of(spec),
        keys_of(catalog, spec),
    )
    left = [str(one) for one in found if not (version.ties and one.cause is Cause.ORDER)]
    assert left == []


def context() -> TransformContext:
    return context_of(READ.tables[readings.SILVER])


def examined(spark: SparkSession, function, **columns: str) -> list[Sighting]:
    """Of a frame with the key day, meter."""
    kinds = {"day": "date", "meter": "string", "amount": "long", **columns}
    schema = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
    frames = Frames(inputs={"a": spark.createDataFrame([], schema)}, references={})
    keys = {"a": ("day", "meter")}
    return list(
        examine_transform(lambda given, _: function(given.inputs["a"]), frames, context(), keys)
    )


def newest(rows: DataFrame, *order: str) -> DataFrame:
    place = F.row_number().over(Window.partitionBy("meter").orderBy(*order))
    return rows.withColumn("place", place).where("place = 1").drop("place")


def test_spark_says_enough_to_name_the_clock_and_the_column_it_feeds(spark) -> None:
    (found,) = examined(spark, lambda rows: rows.withColumn("at", F.current_timestamp()))
    assert (found.cause, found.where) == (Cause.CLOCK, "column 'at'")


def test_spark_says_enough_to_tell_a_total_order_from_an_open_one(spark) -> None:
    assert examined(spark, lambda rows: newest(rows, "day")) == []
    (found,) = examined(spark, lambda rows: newest(rows, "amount"))
    assert found.cause is Cause.ORDER


def test_rows_that_are_set_aside_are_examined_as_well(spark) -> None:
    def set_aside(rows: DataFrame) -> Computed:
        return Computed(rows=rows, rejects=rows.select("day", F.expr("uuid()").alias("id")))

    (found,) = examined(spark, set_aside)
    assert found.cause is Cause.IDENTITY


def test_no_column_is_left_out_of_a_wide_plan(spark) -> None:
    wide = {f"c{number}": "long" for number in range(40)}
    (found,) = examined(spark, lambda rows: rows.withColumn("last", F.rand()), **wide)
    assert found.where == "column 'last'"


@pytest.mark.parametrize(
    ("found", "staged"),
    [(0.1 + 0.2, "0.3"), (2.675, "2.68"), (-2.675, "-2.68"), (-0.001, "0.0"), (1e300, "1e+300")],
)
def test_a_floating_value_is_rounded_half_away_from_zero(spark, found, staged) -> None:
    rows = spark.createDataFrame([(found,)], "ratio double")
    assert str(rounded(rows, {"ratio": "round(`ratio`, 2)"}).collect()[0]["ratio"]) == staged


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), float("-inf"), None])
def test_what_is_no_finite_number_stays_what_it_is(spark, odd) -> None:
    rows = spark.createDataFrame([(odd,)], "ratio double")
    assert str(rounded(rows, {"ratio": "round(`ratio`, 2)"}).collect()[0]["ratio"]) == str(odd)
