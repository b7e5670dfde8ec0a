"""Where tables and the staging tables of runs lie below one warehouse root.

Staging lies under its target, so that publication can name staged files by a relative path. Names
are checked before they become folders: nothing leads out of the root. The warehouse is a local
folder so far; an object store would replace the root and nothing else here.
"""

from dataclasses import dataclass
from pathlib import Path

from backfill_platform.domain.catalog import IDENTIFIER
from backfill_platform.domain.identity import is_run_id

RUNS = "runs"  # no leading "_" or ".": VACUUM never cleans below such folders


@dataclass(frozen=True, slots=True)
class Warehouse:
    root: Path

    def table_path(self, table: str) -> Path:
        """`silver.case_sla_daily` lies in `<root>/silver/case_sla_daily`."""
        parts = table.split(".")
        if len(parts) != 2 or not all(IDENTIFIER.fullmatch(part) for part in parts):
            raise ValueError(f"a table is named `layer.name` in lower case, not {table!r}")
        return self.root.joinpath(*parts)

    def staging_path(self, table: str, run_id: str) -> Path:
        """The run's own Delta table, below its target."""
        if not is_run_id(run_id):
            raise ValueError(f"not a run id, so not a folder: {run_id!r}")
        return self.table_path(table) / RUNS / run_id
