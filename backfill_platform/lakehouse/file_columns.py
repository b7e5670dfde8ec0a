"""As what single Parquet files hold their columns, by Delta's names of the types.

A table's log says how its files are to be read, not how they were written: a file keeps a column
that was removed from the table since, under its name and in the type of then.
"""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from backfill_platform.domain.errors import EngineUnavailable

_SIMPLE = {
    "int8": "byte",
    "int16": "short",
    "int32": "integer",
    "int64": "long",
    "float": "float",
    "double": "double",
    "bool": "boolean",
    "date32[day]": "date",
    "string": "string",
    "large_string": "string",
    "string_view": "string",
    "binary": "binary",
    "large_binary": "binary",
}


def held_types(files: Iterable[Path], column: str) -> tuple[str, ...]:
    """All types under which these files hold a column of that name, whatever its case; read from
    their footers."""
    held = {
        _delta_name(field.type)
        for file in files
        for field in _read_schema(file)
        if field.name.casefold() == column.casefold()
    }
    return tuple(sorted(held))


def column_types(file: Path) -> dict[str, str]:
    """As its footer names them."""
    return {field.name: _delta_name(field.type) for field in _read_schema(file)}


def _read_schema(file: Path) -> pa.Schema:
    try:
        return pq.read_schema(file)
    except (OSError, pa.ArrowInvalid) as error:
        raise EngineUnavailable(
            f"{file}: its footer could not be read: {error}; check the storage and try again"
        ) from error


def _delta_name(found: pa.DataType) -> str:
    if pa.types.is_dictionary(found):
        return _delta_name(found.value_type)
    if pa.types.is_decimal(found):
        return f"decimal({found.precision},{found.scale})"
    if pa.types.is_timestamp(found):
        return "timestamp"
    return _SIMPLE.get(str(found), str(found))
