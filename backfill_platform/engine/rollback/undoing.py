"""Until when a publication can be undone: for so long the target is sure to keep what it replaced.

Delta counts from the commit, by the table's own property. Afterwards the files may still be there,
and go with the next VACUUM: whether a rollback is possible is looked at when one is planned.
"""

from datetime import datetime, timedelta

from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_log import read_commit
from backfill_platform.lakehouse.delta_tables import open_table
from backfill_platform.lakehouse.retention import rollback_hours


def undoable_until(platform: Platform, table: str, version: int) -> datetime:
    path = platform.warehouse.table_path(table)
    commit, target = read_commit(path, version), open_table(path)
    landed_at = (commit.committed_at if commit else None) or platform.clock()
    configuration = target.metadata().configuration if target else {}
    return landed_at + timedelta(hours=rollback_hours(configuration))
