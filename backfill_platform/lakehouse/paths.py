"""Where tables and the staging tables of runs lie below one warehouse root.

Staging lies under its target, so that publication can name staged files by a relative path. What is
kept about a run without being published lies beside. Names are checked before they become folders:
nothing leads out of the root. The warehouse is a local folder so far; an object store would replace
the root and nothing else here.
"""

from dataclasses import dataclass
from pathlib import Path

from backfill_platform.domain.catalog import IDENTIFIER
from backfill_platform.domain.identity import is_run_id

RUNS = "runs"  # no leading "_" or ".": VACUUM never cleans below such folders

# What is kept about a run for people to look at, and is no part of any table. VACUUM must not clean
# it, and delta-rs spares only what lies below such a folder of the root itself: ADR 0014.
BESIDE = "_beside"


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
        return self._of_run(table, RUNS, run_id)

    def rejects_path(self, table: str, run_id: str) -> Path:
        """A Delta table of the rows that the run's transform set aside, where it set some aside."""
        return self._of_run(table, BESIDE, run_id) / "rejects"

    def failing_path(self, table: str, run_id: str) -> Path:
        """A Delta table with some of the rows for which a gate did not pass."""
        return self._of_run(table, BESIDE, run_id) / "failing"

    def diff_path(self, table: str, run_id: str) -> Path:
        """A Delta table of what the run would change against what is accepted."""
        return self._of_run(table, BESIDE, run_id) / "diff"

    def _of_run(self, table: str, folder: str, run_id: str) -> Path:
        if not is_run_id(run_id):
            raise ValueError(f"not a run id, so not a folder: {run_id!r}")
        return self.table_path(table) / folder / run_id
