"""What is wrong with an intent by the declarations alone, before anything is looked up.

Every reason is a sentence that says what, which and what to do instead. What only facts can tell,
`preflight` finds.
"""

from collections.abc import Iterator
from datetime import date

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.modes import ExecutionMode, RunKind
from backfill_platform.domain.partitions import Boundary, PartitionSet
from backfill_platform.domain.tables import TableSpec
from backfill_platform.planner.mode_reasons import kind_reasons
from backfill_platform.planner.references import declared_reference_reasons
from backfill_platform.planner.scope import choose_transform
from backfill_platform.planner.validation import override_reasons
from backfill_platform.planner.wording import name_days

NO_REASON = (
    "it names no reason; say why these numbers change (`--reason`, or in Dagster the tag "
    "`backfill/reason` or the config `reason`)"
)


def intent_reasons(intent: Intent, spec: TableSpec, catalog: Catalog) -> Iterator[str]:
    if not intent.reason.strip():
        yield NO_REASON
    if intent.kind is RunKind.ROLLBACK:
        yield "a ROLLBACK names the run that it undoes; plan it with `backfill rollback RUN`"
    if (intent.kind is RunKind.LIVE) != (intent.mode is ExecutionMode.LIVE):
        yield (
            f"kind {intent.kind} and mode {intent.mode} do not go together; LIVE goes with LIVE "
            "alone"
        )
    if intent.days.span.start < spec.start:
        yield f"{intent.table} starts on {spec.start}, the range on {intent.days.span.start}"
    yield from _cut_reasons(intent, spec)
    yield from kind_reasons(intent, spec)
    if choose_transform(spec, intent.transform_version) is None:
        known = ", ".join(known.version for known in spec.transforms)
        yield f"{intent.table} has no transform {intent.transform_version!r}; it has {known}"
    yield from declared_reference_reasons(spec, intent, catalog)
    yield from intent.limits.problems
    yield from override_reasons(spec, intent)


def future_reasons(intent: Intent, spec: TableSpec, today: date) -> Iterator[str]:
    """Today may be planned; so may a week or a month that ends today."""
    last = intent.days.span.last
    if last <= today:
        return
    whole = "" if spec.boundary is Boundary.DAY else f"; wait until the {spec.boundary} has ended"
    yield f"{last} lies in the future (today is {today}){whole}"


def _cut_reasons(intent: Intent, spec: TableSpec) -> Iterator[str]:
    whole = PartitionSet.of_days(
        day for own in intent.days.ranges for day in own.widen_to(spec.boundary)
    )
    added = [day for day in whole if day not in intent.days]
    if added:
        yield (
            f"{intent.table} is published by the {spec.boundary} and this would cut one "
            f"({name_days(added)} would be left out); ask for {whole}"
        )
