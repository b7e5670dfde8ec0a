"""Input range against publish range: what a run has to read so that it may publish its days.

Which of these days an input must hold, and may still be used, is decided in `availability`.
"""

from collections.abc import Iterable
from datetime import date

from backfill_platform.domain.modes import Knowledge
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import Input, TableSpec
from backfill_platform.domain.transforms import InputWindow, TransformVersion
from backfill_platform.domain.versions import parse_version


def input_window(used: Input, knowledge: Knowledge) -> InputWindow:
    """A run that may use only what was known at the time reads nothing that arrived later."""
    late_days = used.late_days if knowledge is Knowledge.UP_TO_SNAPSHOT else 0
    return InputWindow(before_days=used.warm_up_days, after_days=late_days)


def input_days(days: PartitionSet | DayRange, window: InputWindow) -> DayRange:
    """Invariant: the input range is explicit and kept apart from the publish range
    (test_input_range_is_wider_than_publish_range_at_both_ends)."""
    span = days.span if isinstance(days, PartitionSet) else days
    return span.widen(before_days=window.before_days, after_days=window.after_days)


def needed_days(days: PartitionSet, window: InputWindow) -> frozenset[date]:
    """The days of an input that some day of output uses; what lies in a wide gap is not needed."""
    return frozenset(day for own in days.ranges for day in input_days(own, window))


def missing_days(days: Iterable[date], present: PartitionSet | None) -> tuple[date, ...]:
    """Of these days, those for which an input holds nothing."""
    held = frozenset(present) if present else frozenset[date]()
    return tuple(day for day in sorted(days) if day not in held)


def choose_transform(spec: TableSpec, version: str | None) -> TransformVersion | None:
    """The named version, or the newest one when nothing is said."""
    if version is not None:
        return spec.transform(version)
    return max(spec.transforms, key=lambda known: parse_version(known.version) or (0, 0, 0))
