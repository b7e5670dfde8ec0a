"""Reads a pandera model into a `Contract`; refuses what no measurement could keep.

The pandera model stays the only place where people declare columns and checks.
"""

from collections.abc import Iterator
from typing import Any

from pandera.pyspark import DataFrameModel
from pyspark.sql.types import StructType

from backfill_platform.domain.contracts import (
    Column,
    ColumnCheck,
    Contract,
    DerivedContract,
    PanderaCheck,
    Unique,
)
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.validator.declared_checks import read_check, read_frame_check


def read_contract(model: type[Any] | DerivedContract) -> Contract:
    if isinstance(model, DerivedContract):
        return model.derive(read_contract(model.of))
    if not issubclass(model, DataFrameModel):
        raise DeclarationInvalid(
            subject=model.__name__,
            field="schema",
            problem="is not a pandera.pyspark DataFrameModel",
        )
    name, schema = model.__name__, model.to_schema()
    _refuse_options(name, schema)
    columns = tuple(_read_column(name, column) for column in schema.columns.values())
    checks = [*_read_checks(name, columns, schema)]
    _refuse_twins(name, checks)
    return Contract(
        columns=columns,
        checks=tuple(check for check in checks if isinstance(check, ColumnCheck)),
        uniques=_read_unique(name, schema),
        by_pandera=tuple(check for check in checks if isinstance(check, PanderaCheck)),
    )


def spark_schema(contract: Contract) -> StructType:
    """Nullable throughout: nulls are counted by the gates, where a failing row can be shown."""
    fields = [
        {"name": column.name, "type": column.type, "nullable": True, "metadata": {}}
        for column in contract.columns
    ]
    return StructType.fromJson({"type": "struct", "fields": fields})


def _refuse_options(model: str, schema: Any) -> None:
    """Those that would change rows, or the columns that are looked at, while they are checked."""
    refused = {
        "coerce": (schema.coerce, _CONVERTS),
        "dtype": (schema.dtype is not None, "declare the type of each column"),
        "strict='filter'": (schema.strict == "filter", "have the transform leave columns out"),
    }
    for option, (is_given, instead) in refused.items():
        if is_given:
            raise _invalid(model, "Config", f"{option} is not kept: {instead}")


def _read_column(model: str, column: Any) -> Column:
    refused = {
        "coerce": (column.coerce, _CONVERTS),
        "regex": (column.regex, "declare each column by its name"),
        "required=False": (not column.required, "declare it `nullable=True`; a column is there"),
        "a type of `Any`": (column.dtype is None, "declare its type"),
    }
    for option, (is_given, instead) in refused.items():
        if is_given:
            raise _invalid(model, column.name, f"{option} is not kept: {instead}")
    return Column(
        name=column.name,
        type=str(column.dtype.type.jsonValue()),
        is_nullable=bool(column.nullable),
    )


_CONVERTS = "nothing is converted while it is checked; have the transform return the declared type"


def _read_checks(
    model: str, columns: tuple[Column, ...], schema: Any
) -> Iterator[ColumnCheck | PanderaCheck]:
    for column in columns:
        for check in schema.columns[column.name].checks:
            yield read_check(model, schema, column.name, column.type, check)
    for check in schema.checks:
        yield read_frame_check(model, schema, check)


def _refuse_twins(model: str, checks: list[ColumnCheck | PanderaCheck]) -> None:
    """Failures are counted by name."""
    names = [check.name for check in checks]
    for check in checks:
        if names.count(check.name) > 1:
            raise _invalid(
                model, check.column or "Config", f"check {check.check!r} is there twice; name one"
            )


def _read_unique(model: str, schema: Any) -> tuple[Unique, ...]:
    given = [schema.unique] if isinstance(schema.unique, str) else list(schema.unique or ())
    columns = tuple(name for name in given if name)
    unknown = [name for name in columns if name not in schema.columns]
    if unknown:
        raise _invalid(model, "Config", f"unique names {', '.join(unknown)}, which is no column")
    return (Unique(columns=columns),) if columns else ()


def _invalid(model: str, field: str, problem: str) -> DeclarationInvalid:
    return DeclarationInvalid(subject=model, field=field, problem=problem)
