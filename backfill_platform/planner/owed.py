"""Whose content a partition shows: the run that last published it, seen through rollbacks.

A rollback owns what it returned, and yet the rows are those of an earlier run. Without looking
through it a run could never be rolled back once a later one had been: undoing the rollback would
only bring the later one back. Histories begin with the oldest version of the target.
"""

from collections.abc import Mapping
from datetime import date

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.measurements import Content
from backfill_platform.domain.runs import AcceptedPartition

History = tuple[AcceptedPartition, ...]
Returned = Mapping[RunId, Mapping[date, int]]  # by rollback: the version each day was returned to


def owed_entry(history: History, run_id: RunId, returned: Returned) -> AcceptedPartition | None:
    """By which publication the day is the run's now; nothing when it is somebody else's."""
    for entry in (current_entry(history), shown_entry(history, returned)):
        if entry is not None and entry.run_id == run_id:
            return entry
    return None


def current_entry(history: History) -> AcceptedPartition | None:
    return history[-1] if history else None


def shown_entry(
    history: History, returned: Returned, *, version: int | None = None
) -> AcceptedPartition | None:
    """Whose rows the day shows, now or at a version; nothing where no run had written it."""
    entry = entry_at(history, version) if version is not None else current_entry(history)
    while entry is not None and entry.run_id in returned:
        entry = entry_at(history, returned[entry.run_id][entry.day])
    return entry


def entry_at(history: History, version: int) -> AcceptedPartition | None:
    """The newest one that had landed by that version of the target."""
    landed = [entry for entry in history if entry.target_version <= version]
    return landed[-1] if landed else None


def differs_since(history: History, version: int) -> bool:
    """Between what that version of the table held of the day and what is accepted now."""
    return held_content(entry_at(history, version)) != held_content(current_entry(history))


def held_content(entry: AcceptedPartition | None) -> Content | None:
    """A day without rows is like one that nobody has written."""
    return Content(entry.row_count, entry.checksum) if entry and entry.row_count else None
