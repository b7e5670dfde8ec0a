"""Keys and values of a row as texts, by column name, so that corrections of any table look alike.

Every value has one text, whatever session writes it (an instant is in UTC), from which it is read
again by a cast to the column's type. Names stand in order, so equal values have equal JSON.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.corrections.subject import Subject


def key_text(subject: Subject) -> Column:
    types = dict(subject.columns)
    keys = [_text(F.col(name), types[name]).alias(name) for name in subject.keys]
    return F.to_json(F.struct(*keys), {"ignoreNullFields": "false"})


def value_texts(subject: Subject, held: Sequence[str]) -> Column:
    """All business columns; those that the table does not hold yet are null."""
    types = dict(subject.columns)
    entries = [
        part
        for name in subject.column_names
        for part in (F.lit(name), _held_text(name, types[name], held))
    ]
    return F.create_map(*entries)


def typed_values(values: Column, subject: Subject) -> list[Column]:
    """The opposite of `value_texts`: columns of their own types, as they were declared."""
    return [values[name].cast(_sql(kind)).alias(name) for name, kind in subject.columns]


def read_values(column: str) -> Column:
    return F.from_json(column, "map<string,string>")


def write_values(values: Column) -> Column:
    return F.to_json(values)


def with_texts(rows: DataFrame, subject: Subject, *, key: str, values: str) -> DataFrame:
    return rows.withColumns({key: key_text(subject), values: value_texts(subject, rows.columns)})


def _held_text(name: str, kind: str, held: Sequence[str]) -> Column:
    if name not in held:
        return F.lit(None).cast("string")
    return _text(F.col(f"`{name}`"), kind)


def _text(column: Column, kind: str) -> Column:
    typed = column.cast(_sql(kind))
    if kind != "timestamp":
        return typed.cast("string")
    # A cast would write the wall clock of whatever time zone the session is in.
    epoch = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
    wall_clock = F.timestamp_add("MICROSECOND", F.unix_micros(typed), epoch).cast("string")
    return F.concat(F.translate(wall_clock, " ", "T"), F.lit("Z"))


def _sql(kind: str) -> str:
    """Delta's names of types are Spark's own, but for this one in older readers of SQL."""
    return "bigint" if kind == "long" else kind
