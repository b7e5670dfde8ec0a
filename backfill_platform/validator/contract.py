"""Reads a pandera model into a `Contract`; refuses a check that cannot be measured in one pass.

The pandera model stays the only place where people declare columns and checks.
"""

from typing import Any

from pandera.pyspark import DataFrameModel
from pyspark.sql.types import StructType

from backfill_platform.domain.contracts import Column, ColumnCheck, Contract, DerivedContract
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.validator.checks import COMPILERS


def read_contract(model: type[Any] | DerivedContract) -> Contract:
    if isinstance(model, DerivedContract):
        return model.derive(read_contract(model.of))
    if not issubclass(model, DataFrameModel):
        raise DeclarationInvalid(
            subject=model.__name__,
            field="schema",
            problem="is not a pandera.pyspark DataFrameModel",
        )
    schema = model.to_schema()
    return Contract(
        columns=tuple(
            Column(
                name=name,
                type=str(column.dtype.type.jsonValue()),
                is_nullable=bool(column.nullable),
            )
            for name, column in schema.columns.items()
        ),
        checks=tuple(
            _read_check(model.__name__, name, check)
            for name, column in schema.columns.items()
            for check in column.checks
        ),
    )


def spark_schema(contract: Contract) -> StructType:
    """Nullable throughout: nulls are counted by the gates, where a failing row can be shown."""
    fields = [
        {"name": column.name, "type": column.type, "nullable": True, "metadata": {}}
        for column in contract.columns
    ]
    return StructType.fromJson({"type": "struct", "fields": fields})


def _read_check(model: str, column: str, check: Any) -> ColumnCheck:
    if check.name not in COMPILERS:
        raise DeclarationInvalid(
            subject=model,
            field=column,
            problem=(
                f"check {check.name!r} cannot be measured in one pass; "
                f"use one of {', '.join(sorted(COMPILERS))}"
            ),
        )
    return ColumnCheck(column=column, check=check.name, arguments=dict(check.statistics))
