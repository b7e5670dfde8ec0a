"""Below which run's folder the files of a partition lie, as far as the ledger knows.

Ordinarily it is the run to which the partition is owed. A rollback has no files of its own: behind
it stands the run whose files it returned, and nobody where no run had written them.
"""

from collections.abc import Iterable, Mapping
from datetime import date

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.engine.rollback.facts import ALL, known_rollbacks, returned_versions
from backfill_platform.ledger.store import Ledger
from backfill_platform.planner.owed import shown_entry


def shown_runs(ledger: Ledger, table: str, days: Iterable[date]) -> dict[date, RunId]:
    accepted = ledger.accepted(table, days)
    behind = _behind_rollbacks(ledger, table, accepted)
    return {
        day: shown.run_id
        for day, now in accepted.items()
        if (shown := behind.get(day, now)) is not None
    }


def _behind_rollbacks(
    ledger: Ledger, table: str, accepted: Mapping[date, AcceptedPartition]
) -> dict[date, AcceptedPartition | None]:
    """Only of the days that are owed to a rollback; manifests are read where there is one."""
    records = ledger.runs(table, kind=RunKind.ROLLBACK, limit=ALL)
    rollbacks = {record.run_id for record in records}
    returned_days = [day for day, now in accepted.items() if now.run_id in rollbacks]
    if not returned_days:
        return {}
    returned = returned_versions(known_rollbacks(ledger, table))
    histories = ledger.accepted_histories(table, returned_days)
    return {day: shown_entry(histories[day], returned) for day in returned_days}
