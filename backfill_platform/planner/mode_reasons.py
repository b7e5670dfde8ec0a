"""What a way of publishing forbids: by the intent alone, and by what the days hold now.

The publisher refuses what comes in between, because the base that a plan pins is then another one.
What a wrong declaration of a way of publishing is, the catalog says.
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import date

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.modes import PublishMode, RunKind
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.tables import TableSpec
from backfill_platform.planner.draft import Draft
from backfill_platform.planner.publish_scope import is_never_published
from backfill_platform.planner.wording import name_days


def kind_reasons(intent: Intent, spec: TableSpec) -> Iterator[str]:
    if spec.publish_mode is PublishMode.APPEND_ONLY and intent.kind is RunKind.RESTATEMENT:
        yield (
            f"{intent.table} is published by APPEND_ONLY, so nothing in it is superseded and a "
            "RESTATEMENT cannot be; take back what is wrong with `backfill rollback RUN`, then "
            "plan these days as a BACKFILL"
        )


def held_reasons(draft: Draft) -> Iterator[str]:
    """A run that never publishes may look at days that hold something."""
    is_once = draft.spec.publish_mode is PublishMode.APPEND_ONLY
    if not is_once or is_never_published(draft.intent, draft.spec) or not draft.replaced_days:
        return
    held = draft.replaced_days
    yield (
        f"{draft.intent.table} is published by APPEND_ONLY, and {name_days(held)} "
        f"{'holds' if len(held) == 1 else 'hold'} something already. "
        f"{'. '.join(_remedies(draft))}"
    )


def _remedies(draft: Draft) -> Iterator[str]:
    empty = _units_that_hold_nothing(draft)
    if empty:
        days = PartitionSet.of_days(empty)
        yield f'Leave out what is there: `backfill plan {draft.intent.table} --days "{days}"`'
    accepted, strangers = draft.facts.target.accepted_by, list[date]()
    by_run: defaultdict[RunId, list[date]] = defaultdict(list)
    for day in draft.replaced_days:
        (by_run[accepted[day]] if day in accepted else strangers).append(day)
    for run_id, days in sorted(by_run.items()):
        yield f"Take back what {run_id} was accepted for: {_rollback(run_id, days)}"
    if strangers:
        yield (
            f"No run was accepted for {name_days(strangers)}: see who wrote there, `backfill "
            f"history {draft.intent.table} --day {strangers[0]}`"
        )


def _rollback(run_id: RunId, days: list[date]) -> str:
    return f'`backfill rollback {run_id} --days "{PartitionSet.of_days(days)}"`'


def _units_that_hold_nothing(draft: Draft) -> tuple[date, ...]:
    """A week or a month of which one day is left out would be cut."""
    start_of = draft.spec.boundary.start_of
    held = {start_of(day) for day in draft.replaced_days}
    return tuple(day for day in draft.intent.days if start_of(day) not in held)
