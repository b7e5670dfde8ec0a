"""Measures by the values of columns: which there are, and the text that names one value."""

from collections.abc import Iterable, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import Contract
from backfill_platform.domain.quality import Measure
from backfill_platform.validator.relations import Related

DIMENSION = "dimension"


def dimension(columns: Sequence[str]) -> Column:
    """`US-CA / OPEN`; the same text on both sides of a reconciliation."""
    texts = [F.coalesce(F.col(name).cast("string"), F.lit("null")) for name in columns]
    return F.concat_ws(" / ", *texts)


def dimensions_of(measures: Iterable[Measure]) -> list[tuple[str, ...]]:
    return [*dict.fromkeys(measure.by for measure in measures if measure.by)]


def known_values(contract: Contract, related: Iterable[Related]) -> dict[str, int]:
    """How many values a column may have, where a check or reference data lists them. A row that
    breaks the check has one more, and its day does not pass."""
    listed = {
        check.column: len(check.arguments["allowed_values"])
        for check in contract.checks
        if check.check == "isin" and check.value is None
    }
    return listed | {one.columns[0]: len(one.listed) for one in related if one.is_listed}
