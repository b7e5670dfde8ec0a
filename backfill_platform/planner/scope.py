"""Input range against publish range: what a run has to read so that it may publish its days."""

from datetime import date

from backfill_platform.domain.intents import Intent, ReferenceChoice
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


def missing_days(days: PartitionSet, present: PartitionSet | None) -> tuple[date, ...]:
    """Days to publish for which an input holds nothing; warm-up and late days may be absent."""
    held = frozenset(present) if present else frozenset[date]()
    return tuple(day for day in days if day not in held)


def choose_transform(spec: TableSpec, version: str | None) -> TransformVersion | None:
    """The named version, or the newest one when nothing is said."""
    if version is not None:
        return spec.transform(version)
    return max(spec.transforms, key=lambda known: parse_version(known.version) or (0, 0, 0))


def choose_references(spec: TableSpec, intent: Intent) -> dict[str, ReferenceChoice]:
    """By reference name: what the intent says, or else what the table ordinarily uses."""
    return {
        use.name: intent.references.get(
            use.name, ReferenceChoice(version=use.version, semantics=use.semantics)
        )
        for use in spec.references
    }
