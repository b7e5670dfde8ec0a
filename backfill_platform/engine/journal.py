"""Says what the engine does, step by step; the run that a step is about is named once, around it.

    with about_run(manifest, days):
        note(platform, "chunk_claimed", attempt=1)

How a line looks and where it goes is decided by whoever made the platform's journal.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from backfill_platform.domain.chunks import build_chunk_id
from backfill_platform.domain.errors import BackfillError
from backfill_platform.domain.journal import NO_SUBJECT, Figure, JournalLine, Level, Subject
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.platform import Platform
from backfill_platform.planner.scope import input_days

_SUBJECT: ContextVar[Subject] = ContextVar("subject", default=NO_SUBJECT)


@contextmanager
def about(subject: Subject) -> Iterator[None]:
    """All that is noted within is about this."""
    token = _SUBJECT.set(subject)
    try:
        yield
    finally:
        _SUBJECT.reset(token)


@contextmanager
def about_run(
    manifest: Manifest, days: DayRange | PartitionSet | None = None, *, chunk_id: str | None = None
) -> Iterator[None]:
    """All that is noted within is about this run, and about these days of it."""
    subject = Subject(
        run_id=manifest.run_id,
        chunk_id=chunk_id,
        source_range=_source_range(manifest, days or manifest.target.partitions),
        transform_version=f"{manifest.transform.name}/{manifest.transform.version}",
        target=manifest.target.table,
        processing_mode=manifest.mode.value,
    )
    with about(subject):
        yield


@contextmanager
def about_chunk(manifest: Manifest, days: DayRange) -> Iterator[None]:
    with about_run(manifest, days, chunk_id=build_chunk_id(days)):
        yield


@contextmanager
def about_table(table: str) -> Iterator[None]:
    """For what is done to a table and is part of no run."""
    with about(Subject(target=table)):
        yield


def note(platform: Platform, event: str, *, level: Level = Level.INFO, **figures: Figure) -> None:
    platform.journal(
        JournalLine(
            event=event, at=platform.clock(), level=level, subject=_SUBJECT.get(), figures=figures
        )
    )


def note_failure(
    platform: Platform, event: str, failure: BaseException, *, level: Level = Level.ERROR
) -> None:
    """Its kind alone: what it says may hold values of rows, and stands in the ledger."""
    code = failure.code if isinstance(failure, BackfillError) else None
    note(platform, event, level=level, error=type(failure).__name__, code=code)


def _source_range(manifest: Manifest, days: DayRange | PartitionSet) -> str | None:
    """From the first to the last day of any input; a rollback reads none of those it names."""
    ranges = [input_days(days, pinned.window) for pinned in manifest.inputs]
    if manifest.undoes is not None or not ranges:
        return None
    first, end = min(one.start for one in ranges), max(one.end_exclusive for one in ranges)
    return str(DayRange(first, end))
