"""Tells lineage what runs did: all that is due, at least once, and no run waits for it.

The ledger owes each step from the transaction in which it happened, until it was told here. A crash
after telling and before forgetting tells it once more, under the same id.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import cache

from openlineage.client.event_v2 import RunEvent

from backfill_platform.domain.errors import EventRefused, Terminal
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.journal import Subject
from backfill_platform.domain.lineage import Due
from backfill_platform.engine.journal import about, note_failure
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.tell.lineage_facts import (
    KnownRun,
    describe_due,
    look_up,
    past_steps,
)
from backfill_platform.telemetry.lineage_delivery import Deliver
from backfill_platform.telemetry.lineage_events import to_event

MOST = 100  # steps at a time
LONGEST = timedelta(seconds=0.5)  # and then the next look goes on


def tell_lineage(platform: Platform, deliver: Deliver, *, most: int = MOST) -> int:
    """How many events were told now.

    Invariant: what happened to a run is told at least once, whoever dies in between
    (test_what_was_told_and_not_forgotten_is_told_again_as_the_same_run).
    """
    told: list[int] = []
    count, until = 0, platform.clock() + LONGEST
    try:
        for due, event in _due_events(platform, most):
            count += event is not None and _deliver(platform, deliver, due, event)
            told.append(due.position)
            if platform.clock() > until:
                break
    finally:
        if told:
            platform.ledger.forget_lineage_due(told, now=platform.clock())
    return count


def due_events(platform: Platform, *, most: int = MOST) -> Iterator[RunEvent]:
    """What would be told next; nothing is sent and nothing forgotten."""
    for _, event in _due_events(platform, most):
        if event is not None:
            yield event


def run_events(platform: Platform, run_id: RunId) -> Iterator[RunEvent]:
    """All that can still be said of one run, told or not."""
    for step in past_steps(platform, look_up(platform, run_id)):
        yield to_event(step, platform.lineage.namespace)


def _deliver(platform: Platform, deliver: Deliver, due: Due, event: RunEvent) -> bool:
    """What will never be taken is passed over: the others would wait behind it for ever."""
    try:
        deliver(event)
    except EventRefused as refused:
        _note(platform, due, refused)
        return False
    return True


def _due_events(platform: Platform, most: int) -> Iterator[tuple[Due, RunEvent | None]]:
    look = cache(lambda run_id: look_up(platform, run_id))
    for due in platform.ledger.lineage_due(limit=most):
        yield due, _build(platform, due, look)


def _build(platform: Platform, due: Due, look: Callable[[RunId], KnownRun]) -> RunEvent | None:
    """A run that can no longer be read keeps none of the others from being told."""
    try:
        step = describe_due(platform, look(due.run_id), due)
    except Terminal as unreadable:
        _note(platform, due, unreadable)
        return None
    return to_event(step, platform.lineage.namespace) if step else None


def _note(platform: Platform, due: Due, why: Terminal) -> None:
    with about(Subject(run_id=due.run_id)):
        note_failure(platform, "lineage_not_told", why)
