"""Finds accepted days whose inputs hold other rows now than they were computed from. No JVM.

Which rows a day was computed from, only the manifest of its run says. Manifests are opened for days
of which an input changed after they were accepted, and only of the runs whose inputs changed last;
days that an earlier look found are among them as long as they last.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from backfill_platform.domain.errors import EvidenceBroken
from backfill_platform.domain.gaps import AcceptedDays, NotedGap
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import ONE_DAY, DayRange
from backfill_platform.domain.tables import Input, TableSpec
from backfill_platform.engine.carry_out.pacing import rows_read
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.rollback.shown_runs import shown_runs
from backfill_platform.planner.gap_facts import LateDay
from backfill_platform.planner.scope import input_days
from backfill_platform.planner.watermark import settled_until
from backfill_platform.sources.files import count_rows, day_files

MOST_MANIFESTS = 20  # of a table, in one look


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangingInput:
    changed_at: Mapping[date, datetime]  # by day that was ever there
    rows: Mapping[date, int] | None  # of a table; of a source the files' footers say it


def late_days(
    platform: Platform,
    spec: TableSpec,
    accepted: AcceptedDays,
    inputs: Mapping[str, ChangingInput],
    noted: Iterable[NotedGap],
) -> dict[date, LateDay]:
    """Only of a table that declares how many late rows it bears, and of closed windows: until then
    arrivals are nothing but what its days wait for."""
    if spec.quality.late_rows is None:
        return {}
    changed = _changed_since(spec, accepted, inputs, platform.clock().date())
    found_before = [day for gap in noted for day in gap.days or () if day in changed]
    newest_first = sorted(sorted(changed), key=lambda day: changed[day], reverse=True)
    days = [*dict.fromkeys((*found_before, *newest_first))]
    return dict(_compared(platform, spec, days, inputs))


def _changed_since(
    spec: TableSpec, accepted: AcceptedDays, inputs: Mapping[str, ChangingInput], today: date
) -> dict[date, datetime]:
    """By accepted day: the newest change of an input day that it may use, where one came later."""
    newest: dict[date, datetime] = {}
    closed = min(_closed_until(used, inputs[used.name], today) for used in spec.inputs)
    for used in spec.inputs:
        apart = _days_apart(used)
        for changed, at in inputs[used.name].changed_at.items():
            for between in apart:
                day = changed + between
                one = accepted.get(day)
                if one is not None and one.accepted_at < at and day <= closed:
                    newest[day] = max(at, newest.get(day, at))
    return newest


def _closed_until(used: Input, held: ChangingInput, today: date) -> date:
    """The last day whose window gets no more rows."""
    last = max(held.changed_at, default=None)
    settled = settled_until(last, yesterday=today - ONE_DAY)
    return settled - timedelta(days=used.late_days) if settled is not None else date.min


def _days_apart(used: Input) -> tuple[timedelta, ...]:
    """From a day of the input to the days of output that may use it."""
    return tuple(timedelta(days=n) for n in range(-used.late_days, used.warm_up_days + 1))


def _compared(
    platform: Platform, spec: TableSpec, days: list[date], inputs: Mapping[str, ChangingInput]
) -> Iterator[tuple[date, LateDay]]:
    written_by = shown_runs(platform.ledger, spec.full_name, days) if days else {}
    asked = [*dict.fromkeys(written_by[day] for day in days if day in written_by)]
    manifests = {run_id: _read(platform, run_id) for run_id in asked[:MOST_MANIFESTS]}
    now = _RowsNow(platform, inputs)
    for day in days:
        manifest = manifests.get(written_by[day]) if day in written_by else None
        if manifest is not None and manifest.inputs:
            then = rows_read(manifest, DayRange.of_day(day))
            arrived = now.of(manifest, day) - then
            if arrived:
                yield day, LateDay(computed_from=then, arrived_since=arrived)


def _read(platform: Platform, run_id: RunId) -> Manifest | None:
    """Of a run whose manifest cannot be trusted nothing is said here; `verify` finds it."""
    try:
        return load_manifest(platform, run_id)
    except EvidenceBroken:
        return None


class _RowsNow:
    """Of the input days that were asked for; each is counted once."""

    def __init__(self, platform: Platform, inputs: Mapping[str, ChangingInput]) -> None:
        self._platform = platform
        self._inputs = inputs
        self._counted: dict[tuple[str, date], int] = {}

    def of(self, manifest: Manifest, day: date) -> int:
        """In the windows that the day was computed from."""
        return sum(
            self._count(pinned.name, used)
            for pinned in manifest.inputs
            for used in input_days(DayRange.of_day(day), pinned.window)
        )

    def _count(self, name: str, day: date) -> int:
        place = (name, day)
        if place not in self._counted:
            self._counted[place] = self._look(name, day)
        return self._counted[place]

    def _look(self, name: str, day: date) -> int:
        held = self._inputs.get(name)
        if held is None or day not in held.changed_at:
            return 0
        if held.rows is not None:
            return held.rows.get(day, 0)
        source = self._platform.catalog.sources[name]
        return sum(map(count_rows, day_files(self._platform.landing, source, day)))
