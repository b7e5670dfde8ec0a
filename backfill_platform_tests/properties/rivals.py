"""Publishers that aim at the same partition at the same moment, below every lock of the ledger.

In every round two publishers aim at each day, in different processes, and each process also appends
to a day unasked, as a live writer would. `rival_replay` judges what came of it. The ledger would
not let two runs hold one partition; the publisher has to stand without it.
"""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from multiprocessing.synchronize import Barrier
from pathlib import Path
from random import Random
from typing import Any

from deltalake import CommitProperties, write_deltalake
from deltalake.exceptions import DeltaError

from backfill_platform.domain.errors import TargetMoved
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import Publication, Published
from backfill_platform.publisher.replace_partitions import publish
from backfill_platform_tests.properties.rival_replay import Refused, Replay, Report
from backfill_platform_tests.publisher.tables import Lake, days, frame, make_lake, rows_of

PROCESSES = 8
DAYS = tuple(days(0, PROCESSES))
ROWS_PER_DAY = 3
PATIENCE_SECONDS = 60

_together: list[Barrier] = []  # one per process, handed over when it starts


@dataclass(frozen=True, slots=True, kw_only=True)
class Publishing:
    lake: Lake
    name: str  # of its rows
    staging: Path
    publication: Publication


@dataclass(frozen=True, slots=True, kw_only=True)
class Appending:
    lake: Lake
    name: str
    day: date


Step = Publishing | Appending


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceResult:
    published: int
    refused: int
    appended: int
    most_attempts: int


def race(folder: Path, *, rounds: int, seed: int = 1) -> RaceResult:
    """Runs the rounds and replays each; fails at the first version that nobody explains."""
    lake = make_lake(folder)
    replay = Replay(lake, DAYS, rows_per_day=ROWS_PER_DAY)
    context = _context()
    with ProcessPoolExecutor(PROCESSES, context, _enter, (context.Barrier(PROCESSES),)) as pool:
        reports = [
            report
            for number in range(rounds)
            for report in _run_round(lake, number, Random(seed + number), pool, replay)
        ]
    landed = [report.outcome for report in reports if isinstance(report.outcome, Published)]
    return RaceResult(
        published=len(landed),
        refused=sum(report.outcome is Refused.TARGET_MOVED for report in reports),
        appended=sum(report.outcome is None for report in reports),
        most_attempts=max(outcome.attempts for outcome in landed),
    )


def _context() -> Any:
    """Processes that are forked from one which has imported everything and done nothing yet: they
    start at once, and none inherits the threads of a library at work."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([publish.__module__, make_lake.__module__])
    return context


def _run_round(
    lake: Lake, number: int, random: Random, pool: ProcessPoolExecutor, replay: Replay
) -> list[Report]:
    tasks = _tasks(lake, number, random)
    reports = [report for done in pool.map(_work, tasks) for report in done]
    replay.check_round(reports)
    return reports


def _tasks(lake: Lake, number: int, random: Random) -> list[list[Step]]:
    """Process n publishes to day n and to the day after it, so that rivals never share a process.
    All are staged and reviewed before the first starts."""
    tasks: list[list[Step]] = []
    for place in range(PROCESSES):
        run = (number * PROCESSES + place) * 2
        steps: list[Step] = [
            _staged(lake, run, DAYS[place]),
            _staged(lake, run + 1, DAYS[(place + 1) % PROCESSES]),
            Appending(lake=lake, name=f"live{number}-{place}", day=random.choice(DAYS)),
        ]
        random.shuffle(steps)
        tasks.append(steps)
    return tasks


def _staged(lake: Lake, run: int, day: date) -> Publishing:
    name = f"run{run}"
    staging = lake.stage(run, rows_of(name, [day], per_day=ROWS_PER_DAY))
    publication = lake.review(run, PartitionSet.of_days([day]))
    return Publishing(lake=lake, name=name, staging=staging, publication=publication)


def _enter(together: Barrier) -> None:
    _together.append(together)


def _work(steps: list[Step]) -> list[Report]:
    _together[0].wait(PATIENCE_SECONDS)
    return [report for step in steps for report in _take(step)]


def _take(step: Step) -> Iterator[Report]:
    match step:
        case Publishing(publication=publication):
            try:
                outcome = publish(step.lake.target, step.staging, publication)
            except TargetMoved:
                outcome = Refused.TARGET_MOVED
            (day,) = publication.days
            yield Report(name=step.name, day=day, publication=publication, outcome=outcome)
        case Appending() if _append(step):
            yield Report(name=step.name, day=step.day, publication=None, outcome=None)
        case Appending():
            pass  # it lost its race and wrote nothing; the replay would see if it had


def _append(step: Appending) -> bool:
    """With delta-rs' own retries, as people write."""
    try:
        write_deltalake(
            step.lake.target,
            frame(rows_of(step.name, [step.day], per_day=ROWS_PER_DAY)),
            mode="append",
            commit_properties=CommitProperties(custom_metadata={"userMetadata": step.name}),
        )
    except DeltaError:
        return False
    return True
