"""What is accepted of days that are to be computed, by whom it was computed, and whether all of it
is still there: without that no day is left as it is. Read from ledger and logs, without Spark.

Asked when a run is planned, and again right before it relies on the answer.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path

from backfill_platform.domain.errors import EvidenceBroken
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import Content, content_by_day
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import DataFile
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.verdicts import Gate, Outcome
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.still_held import days_still_held
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.lakehouse.removal import still_there
from backfill_platform.planner.facts import NOTHING_FORMER, FormerFacts, ReadTable
from backfill_platform.planner.scope import input_days, input_window
from backfill_platform.planner.unchanged import may_leave_days

# These compare a run with what was accepted before it, and are judged anew.
_COMPARING = frozenset({Gate.CHANGE_EXPECTED, Gate.LATE_DATA})


def gather_former(platform: Platform, intent: Intent, spec: TableSpec) -> FormerFacts:
    if not may_leave_days(intent, spec):
        return NOTHING_FORMER
    accepted = platform.ledger.accepted(intent.table, intent.days)
    shown = faultless_days(platform, intent.table, accepted)
    if not shown:
        return NOTHING_FORMER
    return FormerFacts(
        manifests=_manifests(platform, {*shown.values()}),
        shown=shown,
        contents=accepted_contents(accepted),
        tables={
            used.name: read_table(
                platform, used.name, input_days(intent.days, input_window(used, intent.knowledge))
            )
            for used in spec.inputs
            if used.name in platform.catalog.tables
        },
    )


def accepted_contents(accepted: Mapping[date, AcceptedPartition]) -> dict[date, Content]:
    return {day: Content(one.row_count, one.checksum) for day, one in accepted.items()}


def faultless_days(
    platform: Platform, table: str, accepted: Mapping[date, AcceptedPartition]
) -> dict[date, RunId]:
    """Days that still hold all that a run had measured there, with every file, and of which no gate
    had anything to say; by the run that computed them last, which may have found them as they were.
    What was let through with a fault is computed again, for its failing rows and whatever was said
    of them belong to the run that shows them."""
    held = days_still_held(platform, table, accepted)
    whole = _with_all_files(platform, table, held)
    contents = accepted_contents(accepted)
    by_run: dict[RunId, set[date]] = {}
    for day, run_id in held.items():
        if run_id is not None and day in whole:
            by_run.setdefault(run_id, set()).add(day)
    shown = {
        day: run_id
        for run_id, days in sorted(by_run.items())
        for day in sorted(_faultless(platform, run_id, days, contents))
    }
    return shown | _computed_since(platform, table, shown, contents)


def _computed_since(
    platform: Platform,
    table: str,
    shown: Mapping[date, RunId],
    contents: Mapping[date, Content],
) -> dict[date, RunId]:
    """Whoever computed a day again and found the same has read what is there now, where the run
    that shows it has not."""
    found: dict[date, RunId] = {}
    for run_id, measured in platform.ledger.measuring_runs(table, shown).items():
        own = {day for day in measured if shown[day] == run_id}
        found = {day: other for day, other in found.items() if day not in own}
        others = measured - own
        for manifest in _manifests(platform, [run_id] if others else []).values():
            computed = others - manifest.unchanged_days
            found |= dict.fromkeys(_faultless(platform, run_id, computed, contents), run_id)
    return found


def read_table(platform: Platform, table: str, days: Iterable[date]) -> ReadTable:
    read = tuple(days)
    histories = platform.ledger.accepted_histories(table, read)
    held = days_still_held(platform, table, platform.ledger.accepted(table, read))
    return ReadTable(histories=histories, held=frozenset(held))


def _manifests(platform: Platform, runs: Iterable[RunId]) -> dict[RunId, Manifest]:
    """One that cannot be read says nothing, so its days are computed."""
    found: dict[RunId, Manifest] = {}
    for run_id in sorted(runs):
        with suppress(EvidenceBroken):
            found[run_id] = load_manifest(platform, run_id)
    return found


def _with_all_files(platform: Platform, table: str, days: Iterable[date]) -> frozenset[date]:
    """A log does not say that somebody has removed a file."""
    asked = tuple(days)
    path = platform.warehouse.table_path(table)
    state = read_table_state(path, PartitionSet.of_days(asked)) if asked else None
    if state is None:
        return frozenset()
    return frozenset(day for day in asked if _is_whole(path, state.files.get(day, ())))


def _is_whole(path: Path, files: Iterable[DataFile]) -> bool:
    named = [file.path for file in files]
    return len(still_there(path, named)) == len(named)


def _faultless(
    platform: Platform, run_id: RunId, days: set[date], contents: Mapping[date, Content]
) -> set[date]:
    measured = content_by_day(platform.ledger.measurements(run_id, days), days)
    outcomes = platform.ledger.outcomes(run_id, days).items()
    own = [(day, outcome) for (day, gate), outcome in outcomes if gate not in _COMPARING]
    judged = {day for day, _ in own}
    faulty = {day for day, outcome in own if outcome is not Outcome.PASSED}
    return {day for day in (days & judged) - faulty if measured[day] == contents[day]}
