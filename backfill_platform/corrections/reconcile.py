"""Whether original and corrections together are the corrected output: in sums, without any join.

What corrections add, less what they take away, must be the difference of the corrected output and
the original: in rows, and in a hash of every value. These are sums over each side by itself, so no
fault of the comparison by keys can pass. The original's own measures must hold as well.
"""

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.corrections.compare import corrected_rows
from backfill_platform.corrections.effective import with_standing
from backfill_platform.corrections.subject import Subject
from backfill_platform.corrections.texts import with_texts
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.transforms import Frames, TransformContext

# Sums are kept small enough for every reader of JSON.
_MODULUS = "9007199254740881"


def _content(values: str) -> str:
    """Of one row's map of texts: a sum, so that what stays the same may be left out on both."""
    return f"""coalesce(aggregate(map_entries({values}), 0L, (sum, one) -> sum + pmod(
        xxhash64(corrects_key, one.key, coalesce(one.value, ''), isnull(one.value)),
        1099511627776L)), 0L)"""


def _said(column: str) -> str:
    return _content(f"from_json({column}, 'map<string,string>')")


_NET_ROWS = "count_if(change = 'ADDED') - count_if(change = 'REMOVED')"
_NET_CONTENT = f"""sum(cast({_said("new_values")} - {_said("old_values")} AS decimal(38,0)))"""
_UNRECONCILED = "unreconciled_{}".format


def measures_of_corrections(spec: TableSpec) -> dict[str, str]:
    """Over staged corrections, of this run and of those before it. Two corrections with one number
    are of two rows with one key, of which only one could apply."""
    return {
        "net_rows": _NET_ROWS,
        "net_content": f"pmod({_NET_CONTENT}, {_MODULUS})",
        "repeated_numbers": "count(1) - count(DISTINCT corrects_key, correction_number)",
        **{_UNRECONCILED(name): "count_if(false)" for name in spec.reconciliation.from_output},
    }


def reconcile(
    spec: TableSpec, subject: Subject, frames: Frames, context: TransformContext
) -> DataFrame:
    """The same figures from the inputs, by day."""
    version = spec.transform(context.transform_version)
    assert version is not None, "the planner refuses an unknown version first"
    day, held = subject.partition_column, frames.inputs[subject.table]
    corrected = corrected_rows(version.function, subject, frames, context).rows
    sides = (
        _totals(corrected, subject, "corrected", spec.reconciliation.from_output),
        _totals(held, subject, "held", {}),
        _superseded(frames.base, held, subject),
        _expected(spec, subject, frames, context),
    )
    joined = reduce(lambda left, right: left.join(right, day, "full"), sides)
    return joined.select(day, *_figures(tuple(spec.reconciliation.from_output)))


def _totals(rows: DataFrame, subject: Subject, side: str, measures) -> DataFrame:
    texts = with_texts(rows, subject, key="corrects_key", values="texts")
    content = F.sum(F.expr(_content("texts")).cast("decimal(38,0)"))
    return texts.groupBy(subject.partition_column).agg(
        F.count(F.lit(1)).alias(f"rows_{side}"),
        content.alias(f"content_{side}"),
        *(F.expr(sql).cast("bigint").alias(f"found_{name}") for name, sql in measures.items()),
    )


def _superseded(base: DataFrame, held: DataFrame, subject: Subject) -> DataFrame:
    """Earlier corrections of output that has been replaced since: staged still, and without
    effect."""
    history = with_standing(base, held, subject).where("NOT is_standing")
    return history.groupBy(subject.partition_column).agg(
        F.expr(_NET_ROWS).alias("rows_superseded"),
        F.expr(_NET_CONTENT).alias("content_superseded"),
    )


def _expected(
    spec: TableSpec, subject: Subject, frames: Frames, context: TransformContext
) -> DataFrame:
    totals = spec.reconciliation.from_inputs(frames, context)
    measures = [
        F.col(name).cast("bigint").alias(f"expected_{name}")
        for name in spec.reconciliation.from_output
    ]
    return totals.select(subject.partition_column, *measures)


def _figures(measures: Sequence[str]) -> list[Column]:
    content = _or_zero("content_corrected") - _or_zero("content_held")
    rows = _or_zero("rows_corrected") - _or_zero("rows_held")
    return [
        (rows + _or_zero("rows_superseded")).alias("net_rows"),
        F.pmod(content + _or_zero("content_superseded"), F.expr(_MODULUS)).alias("net_content"),
        F.lit(0).alias("repeated_numbers"),
        *(
            (_or_zero(f"expected_{name}") - _or_zero(f"found_{name}")).alias(_UNRECONCILED(name))
            for name in measures
        ),
    ]


def _or_zero(name: str) -> Column:
    return F.coalesce(F.col(name), F.lit(0))
