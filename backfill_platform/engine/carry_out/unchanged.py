"""Days of a chunk that its run leaves as they are accepted: looked at once more, and accounted for
with the figures and the verdicts of the run that computed them.

Invariant: whatever a manifest says of them, days are left only while all that was compared when the
run was planned is still so (test_a_day_that_moved_since_it_was_planned_to_be_left_is_refused).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date

from backfill_platform.domain.errors import ManifestDrifted
from backfill_platform.domain.manifests import InputType, Manifest, PinnedInput, UnchangedDays
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.verdicts import Gate, Verdict
from backfill_platform.engine.plan.former import accepted_contents, faultless_days, read_table
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import keep_record
from backfill_platform.planner.facts import ReadTable
from backfill_platform.planner.read_alike import comparison_digest
from backfill_platform.planner.scope import input_days
from backfill_platform.sources.files import list_files


def leave_days(platform: Platform, manifest: Manifest, days: DayRange) -> None:
    """Right before the figures of the earlier runs are relied on; the evidence says whose."""
    left = _left_of(manifest, days)
    if not left:
        return
    moved = _moved_days(platform, manifest, left)
    if moved:
        raise ManifestDrifted(
            manifest.run_id,
            (
                f"{PartitionSet.of_days(moved)} of {manifest.target.table} was to be left as it is "
                "accepted, and what it was computed from, or what lies there, is another now",
            ),
        )
    body = {"days": str(days), "computed_by": {one.run_id: str(one.days) for one in left}}
    keep_record(platform, manifest.run_id, "left", key=f"left:{days}", body=body)


def left_figures(
    platform: Platform, manifest: Manifest, days: DayRange
) -> tuple[PartitionMeasurement, ...]:
    """As the runs that computed them had measured them."""
    return tuple(
        measured
        for one in _left_of(manifest, days)
        for measured in platform.ledger.measurements(one.run_id, one.days)
    )


def with_left_reconciled(
    platform: Platform, manifest: Manifest, days: DayRange, verdicts: Iterable[Verdict]
) -> tuple[Verdict, ...]:
    """What the inputs say is not counted again where nothing is: the verdict of the run that did
    stands, and says whose it is. Every other gate judges the figures of that run anew."""
    stands = {verdict.day: verdict for verdict in _left_verdicts(platform, manifest, days)}
    return tuple(
        stands.get(verdict.day, verdict) if verdict.gate is Gate.RECONCILED else verdict
        for verdict in verdicts
    )


def _left_verdicts(platform: Platform, manifest: Manifest, days: DayRange) -> Iterator[Verdict]:
    for one in _left_of(manifest, days):
        for verdict in platform.ledger.verdicts(one.run_id, one.days, (Gate.RECONCILED,)):
            yield replace(verdict, found=f"{verdict.found}, as found by {one.run_id}")


def _left_of(manifest: Manifest, days: DayRange) -> tuple[UnchangedDays, ...]:
    """What of the chunk's days is left, by run."""
    own = (
        replace(one, compared={day: said for day, said in one.compared.items() if day in days})
        for one in manifest.unchanged
    )
    return tuple(one for one in own if one.compared)


def _moved_days(
    platform: Platform, manifest: Manifest, left: tuple[UnchangedDays, ...]
) -> tuple[date, ...]:
    table, boundary = manifest.target.table, manifest.target.boundary
    asked = sorted(day for one in left for day in one.compared)
    accepted = platform.ledger.accepted(table, asked)
    shown, contents = faultless_days(platform, table, accepted), accepted_contents(accepted)
    span = DayRange.closed(asked[0], asked[-1]).widen_to(boundary)
    inputs = tuple(_as_it_is(platform, pinned, span) for pinned in manifest.inputs)
    tables = _read_tables(platform, manifest, span)
    digests = {one.run_id: platform.ledger.run(one.run_id).manifest_digest for one in left}
    return tuple(
        day
        for one in left
        for day, digest in one.compared.items()
        if shown.get(day) != one.run_id
        or digest
        != comparison_digest(
            DayRange.of_day(day).widen_to(boundary),
            digests[one.run_id],
            contents[day],
            inputs,
            tables,
        )
    )


def _as_it_is(platform: Platform, pinned: PinnedInput, days: DayRange) -> PinnedInput:
    """A version of a table stays what it is; what has landed may land again."""
    if pinned.type is not InputType.FILES:
        return pinned
    source = platform.catalog.sources[pinned.name]
    read = input_days(days, pinned.window).clip(pinned.days) or ()
    return replace(pinned, files=list_files(platform.landing, source, read).digests)


def _read_tables(platform: Platform, manifest: Manifest, days: DayRange) -> dict[str, ReadTable]:
    return {
        pinned.name: read_table(platform, pinned.name, input_days(days, pinned.window))
        for pinned in manifest.inputs
        if pinned.type is InputType.TABLE
    }
