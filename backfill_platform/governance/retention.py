"""Reads the policy's section `retention`: how long files stay that nobody sees.

Where the section is missing nothing is ever retired. That a table's rollback window is longer than
the policy is no mistake: the longer counts. Whether a table that is kept exists is not known here.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from backfill_platform.domain.retirements import Retention

# A century: an instant so long ago can still be reckoned, and nobody means more.
Days = Annotated[StrictInt, Field(ge=1, le=36_500)]
TableName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _TablePart(_Part):
    keep: StrictBool


class RetentionPart(_Part):
    abandoned_after_days: Days
    superseded_after_days: Days
    tables: dict[TableName, _TablePart] = {}


def build_retention(part: RetentionPart | None) -> Retention | None:
    if part is None:
        return None
    return Retention(
        abandoned_after_days=part.abandoned_after_days,
        superseded_after_days=part.superseded_after_days,
        kept_tables=tuple(sorted(name for name, table in part.tables.items() if table.keep)),
    )
