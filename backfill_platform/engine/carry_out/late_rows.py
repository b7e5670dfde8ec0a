"""How much input of a day has arrived since it was accepted, told by two manifests alone. No JVM.

Each of them pins the rows of its inputs by day, and which of these a day of output may use.
"""

from collections.abc import Mapping
from datetime import date

from backfill_platform.domain.errors import EvidenceBroken
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.carry_out.pacing import rows_read
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.rollback.shown_runs import shown_runs
from backfill_platform.validator.gates.rules import LateRows


def late_rows(
    platform: Platform, manifest: Manifest, days: DayRange
) -> dict[date, LateRows | None]:
    """Of each day for which anything is accepted; nothing where its run's manifest is unreadable.
    What no run has written was computed from none of the input that is known."""
    shown = shown_runs(platform.ledger, manifest.target.table, days)
    accepted = platform.ledger.accepted(manifest.target.table, days)
    before = {run_id: _read(platform, run_id) for run_id in {*shown.values()}}
    return {
        day: _since(day, manifest, shown.get(day), before)
        for day in days
        if day in accepted or day in manifest.target.base
    }


def _read(platform: Platform, run_id: RunId) -> Manifest | None:
    try:
        return load_manifest(platform, run_id)
    except EvidenceBroken:
        return None


def _since(
    day: date,
    manifest: Manifest,
    written_by: RunId | None,
    before: Mapping[RunId, Manifest | None],
) -> LateRows | None:
    own_day = DayRange.of_day(day)
    now = rows_read(manifest, own_day)
    if written_by is None:
        return LateRows(computed_from=0, arrived_since=now)
    accepted = before[written_by]
    if accepted is None:
        return None
    then = rows_read(accepted, own_day)
    return LateRows(computed_from=then, arrived_since=now - then)
