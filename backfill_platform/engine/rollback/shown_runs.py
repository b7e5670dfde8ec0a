"""Below which run's folder the files of a partition lie, as far as the ledger knows.

Ordinarily it is the run to which the partition is owed. A rollback has no files of its own: behind
it stands the run whose files it returned, and nobody where no run had written them.
"""

from collections.abc import Iterable
from datetime import date

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.engine.rollback.facts import known_rollbacks, returned_versions
from backfill_platform.ledger.store import Ledger
from backfill_platform.planner.owed import Returned, shown_entry


def shown_runs(ledger: Ledger, table: str, days: Iterable[date]) -> dict[date, RunId]:
    returned = returned_versions(known_rollbacks(ledger, table))
    shown = {
        day: _behind_rollbacks(ledger, accepted, returned)
        for day, accepted in ledger.accepted(table, days).items()
    }
    return {day: entry.run_id for day, entry in shown.items() if entry is not None}


def _behind_rollbacks(
    ledger: Ledger, accepted: AcceptedPartition, returned: Returned
) -> AcceptedPartition | None:
    if accepted.run_id not in returned:
        return accepted
    return shown_entry(ledger.accepted_history(accepted.table, accepted.day), returned)
