"""What the ledger knows of files that retention has removed, for whoever looks for them later."""

from collections.abc import Iterable

from backfill_platform.domain.errors import LostRace
from backfill_platform.ledger.store import Ledger


def retired_files(ledger: Ledger, table: str, paths: Iterable[str]) -> dict[str, str]:
    """By path, how it is said that the file has gone; nothing about one that was not retired."""
    wanted = frozenset(paths)
    if not wanted:
        return {}
    return {
        path: f"{record.retirement_id} of {record.intended_at:%Y-%m-%d %H:%M} UTC, by "
        f"{record.intent.actor}"
        for record in ledger.retirements(table)
        for path in sorted(record.retired & wanted)
    }


def refuse_while_retiring(ledger: Ledger, table: str, paths: Iterable[str]) -> None:
    """Invariant: nothing is returned that may be going at this moment
    (test_a_rollback_waits_while_its_files_may_be_going). Asked by a rollback that stands in the
    ledger already: a retirement that begins after that spares what it needs."""
    wanted = frozenset(paths)
    for record in ledger.retirements(table):
        if record.finished_at is None and record.intent.paths & wanted:
            raise LostRace(
                f"{table}: {record.retirement_id} may just be removing files that would return; "
                f"nothing was changed. Let it finish (`backfill retire {table} --confirm`), and "
                "call the same again"
            )
