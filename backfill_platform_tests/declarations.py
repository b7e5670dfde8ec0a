"""Small declarations for tests of the pure rooms; no Spark and no pandera."""

from datetime import date
from typing import Any

from backfill_platform.domain.catalog import Catalog, Declarations, build_catalog
from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.tables import FileSource, Input, Reconciliation, TableSpec
from backfill_platform.domain.transforms import TransformVersion

SCHEMA = Contract(
    columns=(
        Column(name="day", type="date", is_nullable=False),
        Column(name="case_id", type="string", is_nullable=False),
        Column(name="amount", type="long", is_nullable=True),
    ),
    checks=(),
)

SOURCE = FileSource(
    name="landing.events",
    path="events",
    day_column="day",
    start=date(2024, 12, 1),
    schema=object,
    owner="data",
    description="Events as they arrive.",
)


def nothing(*_given: Any) -> None:
    return None


def transform(version: str) -> TransformVersion:
    return TransformVersion(
        version=version, function=nothing, released_on=date(2025, 1, 1), note="for tests"
    )


def make_table(layer: str = "silver", name: str = "cases", **changes: Any) -> TableSpec:
    declared: dict[str, Any] = {
        "layer": layer,
        "name": name,
        "partition_column": "day",
        "start": date(2024, 12, 1),
        "keys": ("day", "case_id"),
        "schema": object,
        "inputs": (Input(name="landing.events"),),
        "transform_name": "cases-transform",
        "transforms": (transform("1.0.0"), transform("1.2.0"), transform("1.10.0")),
        "reconciliation": Reconciliation(from_inputs=nothing, from_output={"rows": "count(*)"}),
        "owner": "data",
        "description": "Cases by day.",
    }
    return TableSpec(**(declared | changes))


def make_catalog(*tables: TableSpec) -> Catalog:
    return build_catalog(
        Declarations(sources=(SOURCE,), references=(), tables=tables or (make_table(),)),
        read_contract=lambda _model: SCHEMA,
    )
