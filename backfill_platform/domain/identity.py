"""Names of runs, groups and principals.

A run id tells what it is about: `bf-20260704-case_sla_daily-3.1.0-001`.
"""

import re
from datetime import date
from typing import NewType

RunId = NewType("RunId", str)
GroupId = NewType("GroupId", str)

_RUN_ID = re.compile(r"bf-\d{8}-[a-z][a-z0-9_]{0,62}-\d+\.\d+\.\d+-\d{3,}")


def build_run_id(*, planned_on: date, table: str, version: str, number: int) -> RunId:
    short_name = table.rpartition(".")[2]
    return RunId(f"bf-{planned_on:%Y%m%d}-{short_name}-{version}-{number:03d}")


def is_run_id(text: str) -> bool:
    """Whether the text may be used as a run id, and so as a folder's name."""
    return _RUN_ID.fullmatch(text) is not None
