"""Has Spark make the plan of a transform, without computing anything, and looks at it.

The same text comes from a session of this process and over Spark Connect, where nothing else of a
plan can be had. The transform is given the frames of its chunk, each under an alias by which the
plan tells its inputs apart.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from backfill_platform.domain.determinism import FLOATING, Sighting
from backfill_platform.domain.transforms import (
    Computed,
    Frames,
    TransformContext,
    TransformFunction,
)
from backfill_platform.executor.determinism import MarkedInput, examine_plan

BASE = "base"

_FIELDS = "spark.sql.debug.maxToStringFields"
_EVERY_FIELD = "100000"  # 25 by default, and then "... 3 more fields"


def examine_transform(
    transform: TransformFunction,
    frames: Frames,
    context: TransformContext,
    keys: Mapping[str, tuple[str, ...]],
) -> tuple[Sighting, ...]:
    """What may come out otherwise next time; `keys` are those of the inputs that have some, and
    under `BASE` those of the table itself."""
    named = {name: f"input_{number}" for number, name in enumerate(sorted(frames.inputs))}
    marked = replace(
        frames,
        inputs={name: frames.inputs[name].alias(alias) for name, alias in named.items()},
        base=None if frames.base is None else frames.base.alias(BASE),
    )
    inputs = {
        alias: _mark(frames.inputs[name], keys.get(name, ())) for name, alias in named.items()
    }
    if frames.base is not None:
        inputs[BASE] = _mark(frames.base, keys.get(BASE, ()))
    # In a plan's text a literal stands as it is, and a reason may speak of `now()`.
    computed = Computed.of(transform(marked, replace(context, reason="")))
    seen = [
        sighting
        for rows in (computed.rows, computed.rejects)
        if rows is not None
        for sighting in examine_plan(explain(rows), inputs, _types(rows))
    ]
    return tuple(dict.fromkeys(seen))


def explain(rows: DataFrame) -> str:
    """The analyzed plan, with every column of it. Connect has it only together with what Spark
    makes of it, logs that Delta reads for that included: of no rows that is made in a moment."""
    with _every_field(rows.sparkSession):
        if hasattr(rows, "_explain_string"):  # over Connect; here there is no such thing
            none: Any = rows.limit(0)
            return none._explain_string(extended=True)
        plan: Any = rows
        return plan._jdf.queryExecution().analyzed().toString()


@contextmanager
def _every_field(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get(_FIELDS)
    spark.conf.set(_FIELDS, _EVERY_FIELD)
    try:
        yield
    finally:
        spark.conf.set(_FIELDS, before or "25")


def _mark(rows: DataFrame, keys: tuple[str, ...]) -> MarkedInput:
    floating = {name for name, kind in _types(rows).items() if kind in FLOATING}
    return MarkedInput(keys=keys, floating=frozenset(floating))


def _types(rows: DataFrame) -> dict[str, str]:
    return {field.name: str(field.dataType.jsonValue()) for field in rows.schema.fields}
