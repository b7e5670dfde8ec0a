"""What the inputs of a table hold now, read from Delta logs and daily folders without a JVM."""

from dataclasses import replace
from datetime import date

from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import InputType, Manifest, PinnedInput
from backfill_platform.domain.modes import PublishMode
from backfill_platform.domain.partitions import ONE_DAY, DayRange, PartitionSet
from backfill_platform.domain.tables import Input, TableSpec
from backfill_platform.engine.deletions import moved_deletions
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_tables import has_version, read_table_state
from backfill_platform.planner.facts import InputFacts
from backfill_platform.planner.scope import input_days, input_window
from backfill_platform.sources.files import day_files, list_files


def gather_input(platform: Platform, intent: Intent, used: Input) -> InputFacts:
    days = input_days(intent.days, input_window(used, intent.knowledge))
    found = _input_facts(platform, used.name, days)
    is_held_to_its_end = found.days_present is not None and days.last in found.days_present
    if is_held_to_its_end:
        return found
    return replace(found, holds_later=_holds_after(platform, used.name, days.last))


def full_range(platform: Platform, spec: TableSpec) -> PartitionSet:
    """From the first to the last day that every input holds, in whole units."""
    today = platform.clock().date()
    everything = DayRange(spec.start, max(today, spec.start) + ONE_DAY)
    held = [_input_facts(platform, used.name, everything).days_present for used in spec.inputs]
    missing = [used.name for used, days in zip(spec.inputs, held, strict=True) if days is None]
    if missing:
        raise PlanRefused((f"{', '.join(missing)} holds nothing since {spec.start}; load it",))
    spans = [days.span for days in held if days is not None]
    return _whole_units(spec, max(span.start for span in spans), min(span.last for span in spans))


def _whole_units(spec: TableSpec, first: date, last: date) -> PartitionSet:
    """A month that began before the first day, or has not ended, is not a month of data."""
    boundary = spec.boundary
    start = first if boundary.start_of(first) == first else boundary.next_start(first)
    end = boundary.start_of(last + ONE_DAY)
    if end <= start:
        raise PlanRefused((f"{spec.full_name}: the inputs hold no whole {boundary} yet",))
    return PartitionSet.of_range(DayRange(start, end))


def moved_inputs(platform: Platform, manifest: Manifest) -> tuple[str, ...]:
    """What of the pinned inputs can no longer be read as it was planned, and whether the list of
    those who are left out has moved."""
    moved = [_moved_input(platform, pinned) for pinned in manifest.inputs]
    moved.append(moved_deletions(platform, manifest))
    moved.append(_moved_base(platform, manifest))
    return tuple(sentence for sentence in moved if sentence)


def _moved_input(platform: Platform, pinned: PinnedInput) -> str | None:
    if pinned.type is InputType.TABLE:
        path = platform.warehouse.table_path(pinned.name)
        if has_version(path, int(pinned.snapshot)):
            return None
        return f"version {pinned.snapshot} of {pinned.name} can no longer be read"
    source = platform.catalog.sources[pinned.name]
    found = list_files(platform.landing, source, pinned.days).digests
    days = [day for day in pinned.days if found.get(day) != pinned.files.get(day)]
    return f"{pinned.name} was landed again for {PartitionSet.of_days(days)}" if days else None


def _moved_base(platform: Platform, manifest: Manifest) -> str | None:
    """A keyed merge reads what its own days held; a rollback returns files and merges nothing."""
    target, version = manifest.target, manifest.target.base_version
    is_read = target.publish_mode is PublishMode.MERGE_BY_KEY and manifest.undoes is None
    if not is_read or version is None or not target.base:
        return None
    if has_version(platform.warehouse.table_path(target.table), version):
        return None
    return f"version {version} of {target.table}, into which it merges, can no longer be read"


def _holds_after(platform: Platform, name: str, last: date) -> bool:
    """Where the last days are missing: whether they are still to come, or were passed over."""
    start, end_exclusive = last + ONE_DAY, platform.clock().date() + ONE_DAY
    if end_exclusive <= start:
        return False
    later = DayRange(start, end_exclusive)
    if name in platform.catalog.sources:
        source = platform.catalog.sources[name]
        return any(day_files(platform.landing, source, day) for day in later)
    state = read_table_state(platform.warehouse.table_path(name), PartitionSet.of_range(later))
    return state is not None and bool(state.restricted_to_held().days)


def _input_facts(platform: Platform, name: str, days: DayRange) -> InputFacts:
    if name in platform.catalog.sources:
        return _file_facts(platform, name, days)
    return _table_facts(platform, name, days)


def _file_facts(platform: Platform, source: str, days: DayRange) -> InputFacts:
    listing = list_files(platform.landing, platform.catalog.sources[source], days)
    return InputFacts(
        type=InputType.FILES,
        snapshot=listing.snapshot,
        days_present=listing.days,
        files=listing.digests,
        rows=listing.rows,
        bytes=listing.bytes,
    )


def _table_facts(platform: Platform, table: str, days: DayRange) -> InputFacts:
    state = read_table_state(platform.warehouse.table_path(table), PartitionSet.of_range(days))
    held = state.restricted_to_held() if state else None
    return InputFacts(
        type=InputType.TABLE,
        snapshot=str(held.version) if held else "",
        days_present=PartitionSet.of_days(held.days) if held and held.days else None,
        files={},
        rows=held.row_counts if held else {},
        bytes=held.byte_counts if held else {},
        columns=held.columns if held else None,
    )
