"""What lineage is told of a run and its chunks, and when; how it is written is for `telemetry`.

A run that failed and is taken up again begins once more, and so does a chunk with each attempt:
each of these is a run of its own for lineage, because one that has ended never goes on. Its number
follows from the ledger, so whoever tells it, and however often, tells of the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from backfill_platform.domain.contracts import Column
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import NOT_BEGUN, STOPPED, ChunkStatus, RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.runs import RunEvent
from backfill_platform.domain.verdicts import Verdict

_S = RunState

# Moves of a run that may have to be told; the others are within it.
TOLD_STATES = frozenset({_S.STAGING, _S.VALIDATED, _S.PUBLISHED, _S.FAILED}) | STOPPED


class Happening(StrEnum):
    START = "START"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"  # somebody or time ended it, and not an error


@dataclass(frozen=True, slots=True, kw_only=True)
class LineagePlace:
    """Where it is told: to a service, or into the file where there is none."""

    url: str
    api_key: str = field(repr=False)
    file: Path
    namespace: str  # under which jobs and datasets are named


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkStep:
    """A chunk was claimed, judged, failed, or had its days taken over by others."""

    chunk_id: str
    attempt: int
    status: ChunkStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What nobody has told yet: an event of a run, or a step of one of its chunks."""

    position: int
    run_id: RunId
    at: datetime
    seq: int | None  # of the run's event
    chunk: ChunkStep | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """`name` is relative to the deployment; `location` is where it lies."""

    name: str
    table: str
    location: str
    is_delta: bool
    columns: tuple[Column, ...]
    version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What came out; nothing where it is no longer known."""

    rows: int | None
    bytes: int | None
    files: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageStep:
    """All that one event says."""

    happening: Happening
    at: datetime
    manifest: Manifest
    manifest_digest: str
    taking: int  # which time the run was taken up; 1 for the first
    chunk: ChunkStep | None
    inputs: tuple[Dataset, ...]
    output: Dataset
    written: Written | None = None
    verdicts: tuple[Verdict, ...] = ()


def find_run_happening(event: RunEvent, *, never_publishes: bool) -> Happening | None:
    """A run that was stopped before it began, or after it had failed, has nothing to end."""
    match event.to_state:
        case RunState.STAGING:
            return Happening.START
        case RunState.FAILED:
            return Happening.FAIL
        case RunState.PUBLISHED:
            return Happening.COMPLETE
        case RunState.VALIDATED if never_publishes and event.from_state is RunState.STAGED:
            return Happening.COMPLETE
        case _:
            was_open = _is_under_way(event.from_state, never_publishes=never_publishes)
            return Happening.ABORT if event.to_state in STOPPED and was_open else None


def find_chunk_happening(status: ChunkStatus) -> Happening | None:
    match status:
        case ChunkStatus.CLAIMED:
            return Happening.START
        case ChunkStatus.VALIDATED | ChunkStatus.PUBLISHED:
            return Happening.COMPLETE
        case ChunkStatus.FAILED:
            return Happening.FAIL
        case ChunkStatus.REPLACED:
            return Happening.ABORT
        case ChunkStatus.STAGED:
            return None


def count_takings(events: Iterable[RunEvent], seq: int) -> int:
    """How often the run had been taken up when that event was written."""
    return sum(one.to_state is RunState.STAGING and one.seq <= seq for one in events) or 1


def find_taking(events: Iterable[RunEvent], at: datetime) -> int:
    """In which taking of the run something happened; a chunk is claimed before its run begins."""
    takings, has_failed = 0, False
    for one in events:
        if one.at <= at and one.from_state is not one.to_state:
            takings += one.to_state is RunState.STAGING
            has_failed = one.to_state is RunState.FAILED and one.at < at
    return (takings + has_failed) or 1


def _is_under_way(state: RunState | None, *, never_publishes: bool) -> bool:
    if state is None or state in NOT_BEGUN or state is RunState.FAILED:
        return False
    return not (never_publishes and state is RunState.VALIDATED)
