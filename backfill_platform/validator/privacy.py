"""Counts staged rows that show what they may not: listed subjects, and raw values under a mask.

It looks at what was written and shares nothing with what left the subjects out and masked the
values, so it also finds what that overlooked. The subjects are joined as a small frame and are no
part of any expression, for Spark writes expressions into its plans, logs and pages.
"""

from collections.abc import Callable, Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.privacy import LISTED_SUBJECTS, UNMASKED, Mask, Protection

_LISTED = "listed__subject"

# True of a value that is not what the mask leaves; a null shows nothing.
_SHOWS_RAW: Mapping[Mask, Callable[[Column], Column]] = {
    Mask.NULL: lambda column: column.isNotNull(),
    Mask.SHA256: lambda column: ~column.rlike("^[0-9a-f]{64}$"),
    Mask.LAST_FOUR: lambda column: F.length(column) > 4,
}


def with_listed_subjects(rows: DataFrame, protection: Protection) -> DataFrame:
    """Every row once, and beside it the listed subject that it is about, if it is about one."""
    listed = protection.listed
    if listed is None:
        return rows
    assert protection.subject_column is not None, "a list is declared with its column"
    named = [(subject,) for subject in sorted(listed.appearances)]
    subjects = rows.sparkSession.createDataFrame(named, f"{_LISTED} string")
    about = F.col(protection.subject_column) == F.col(_LISTED)
    return rows.join(F.broadcast(subjects), about, "left")


def count_private_rows(protection: Protection) -> dict[str, Column]:
    """One aggregate for each promise, over the rows of `with_listed_subjects`."""
    counted = {
        f"{column}{UNMASKED}": F.count_if(_SHOWS_RAW[mask](F.col(column)))
        for column, mask in protection.masks.items()
    }
    if protection.listed is not None:
        counted[LISTED_SUBJECTS] = F.count_if(F.col(_LISTED).isNotNull())
    return counted


def is_listed() -> Column:
    """Whether a row of `with_listed_subjects` is about somebody who is listed."""
    return F.col(_LISTED).isNotNull()


def as_masked(column: Column, mask: Mask) -> Column:
    """A value that the mask has left; null in the place of a raw one."""
    return F.when(~_SHOWS_RAW[mask](column), column)
