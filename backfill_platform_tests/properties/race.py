"""Processes that do to one table whatever can be done to it, at once, on a real ledger.

Each plans, stages and publishes runs, takes runs back, takes up the runs of others, appends as a
foreign writer and compacts, on partitions that all fight for; and each publishes to one partition
of its own, which nobody else touches. `replay` judges from the log, the files and the ledger what
came of it. For a long race:

    python -m backfill_platform_tests.properties.race 100
"""

import multiprocessing
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from multiprocessing.synchronize import Barrier
from pathlib import Path
from random import Random
from typing import Any

from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import DeltaError

from backfill_platform.domain.errors import BackfillError, Terminal
from backfill_platform.domain.identity import GroupId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.lifecycle import IN_FLIGHT, RunState
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.runs import RunRecord
from backfill_platform.engine.carry_out.controlling import cancel_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.ledger.migrate import migrate
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform.settings import load_settings
from backfill_platform.validator.contract import read_contract
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand, write_rows
from backfill_platform_tests.properties.replay import COMPACTOR, Replay, row_names
from backfill_platform_tests.readings import BRONZE, land, week

PROCESSES = 8
DAYS = tuple(week(days=2 * PROCESSES))
FOUGHT_FOR, OWN = DAYS[:PROCESSES], DAYS[PROCESSES:]
LONGEST_RUN = 3
PATIENCE_SECONDS = 120
POLICY = Path(__file__).parent.parent / "policies" / "nobody.yaml"

# What may be answered to whoever came too late; anything else is a finding.
REFUSALS = frozenset(
    {
        "partitions-held",
        "plan-refused",
        "target-moved",
        "run-stopped",
        "gate-failed",
        "lost-race",
        "partitions-fenced",
    }
)

_place: list[tuple[Platform, Barrier]] = []  # one per process, entered when it starts


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    act: str
    name: str  # of the rows or the run, where there are any
    days: tuple[date, ...]
    pick: int  # of the runs that are found


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    step: Step
    answer: str  # DONE, NOTHING or the code of a refusal


def race(home: Path, *, rounds: int, seed: int = 1) -> Counter[tuple[str, str]]:
    """How often each act was answered how; fails at the first version that nobody explains."""
    platform = _open_home(home)
    _fill(platform)
    replay = Replay(platform, BRONZE, DAYS)
    context = _context()
    told: Counter[tuple[str, str]] = Counter()
    barrier = context.Barrier(PROCESSES)
    with ProcessPoolExecutor(PROCESSES, context, _enter, (home, barrier)) as pool:
        for number in range(rounds):
            steps = _steps(number, Random(seed + number))
            reports = [report for done in pool.map(_work, steps) for report in done]
            _settle(platform)
            appended = {_row_name(report) for report in reports if _has_appended(report)}
            replay.check_round(appended)
            told.update((report.step.act, report.answer) for report in reports)
    return told


def _open_home(home: Path) -> Platform:
    settings = load_settings(
        home=home, catalog="backfill_platform_tests.readings:DECLARATIONS", governance=POLICY
    )
    migrate(settings.ledger_url)
    return open_platform(settings)


def _fill(platform: Platform) -> None:
    """One run after which every partition holds something."""
    land(platform.landing, DAYS)
    manifest = plan_run(platform, _intent("first", DAYS))
    run_by_hand(platform, manifest, dict.fromkeys(DAYS, row_names("first")))


def _intent(name: str, days: tuple[date, ...]) -> Intent:
    return Intent(
        table=BRONZE,
        days=PartitionSet.of_days(days),
        kind=RunKind.BACKFILL,
        mode=ExecutionMode.BACKFILL,
        knowledge=Knowledge.UP_TO_SNAPSHOT,
        reason="race",
        requested_by="race",
        origin=name,
        group_id=GroupId(name),
        computes_all=True,  # rows that are staged by hand are not what the inputs give
    )


def _context() -> Any:
    """Processes that are forked from one which has imported everything and done nothing yet: they
    start at once, and none inherits the threads of a library at work."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([one.__module__ for one in (Replay, land, read_contract)])
    return context


def _steps(number: int, random: Random) -> list[list[Step]]:
    """A list for each process, in an order of its own."""
    return [_steps_of(f"{number}-{place}", place, random) for place in range(PROCESSES)]


def _steps_of(name: str, place: int, random: Random) -> list[Step]:
    first = random.randrange(len(FOUGHT_FOR))
    wanted = FOUGHT_FOR[first : first + random.randint(1, LONGEST_RUN)]
    steps = [
        _step("publish", f"run{name}", wanted, random),
        _step("publish own", f"own{name}", (OWN[place],), random),
        _step("roll back", "", (), random),
        _step("join", "", (), random),
        _step("append", f"live{name}", (random.choice(FOUGHT_FOR),), random),
        # One compactor a partition: two of delta-rs at once double its rows, without any of ours
        # (test_rows_that_two_compactions_at_once_have_doubled_are_refused).
        _step("compact", "", (FOUGHT_FOR[place],), random),
    ]
    random.shuffle(steps)
    return steps


def _step(act: str, name: str, days: tuple[date, ...], random: Random) -> Step:
    return Step(act=act, name=name, days=days, pick=random.randrange(1_000))


def _enter(home: Path, together: Barrier) -> None:
    _place.append((_open_home(home), together))


def _work(steps: list[Step]) -> list[Report]:
    platform, together = _place[0]
    together.wait(PATIENCE_SECONDS)
    return [Report(step=step, answer=_take(platform, step)) for step in steps]


def _take(platform: Platform, step: Step) -> str:
    try:
        return "DONE" if _ACTS[step.act](platform, step) else "NOTHING"
    except BackfillError as refusal:
        if refusal.code not in REFUSALS:
            raise
        return refusal.code


def _publish(platform: Platform, step: Step) -> bool:
    manifest = plan_run(platform, _intent(step.name, step.days))
    stage_by_hand(platform, manifest, dict.fromkeys(step.days, row_names(step.name)))
    publish_chunk(platform, manifest.run_id, manifest.target.partitions.span)
    return True


def _roll_back(platform: Platform, step: Step) -> bool:
    """Of the newest runs: an older one has hardly a partition left."""
    runs = _fought_for(platform.ledger.runs(BRONZE, states={RunState.PUBLISHED}, limit=PROCESSES))
    if not runs:
        return False
    request = RollbackRequest(
        run_id=runs[step.pick % len(runs)].run_id,
        days=None,
        reason="race",
        requested_by="race",
    )
    roll_back(platform, plan_rollback(platform, request).run_id)
    return True


def _join(platform: Platform, step: Step) -> bool:
    """Publishes what somebody else has staged and perhaps publishes at this very moment."""
    states = {RunState.VALIDATED, RunState.PUBLISHING}
    runs = _fought_for(platform.ledger.runs(BRONZE, states=states, kind=RunKind.BACKFILL))
    if not runs:
        return False
    _publish_again(platform, runs[step.pick % len(runs)])
    return True


def _fought_for(runs: Iterable[RunRecord]) -> list[RunRecord]:
    return [run for run in runs if run.days and run.days.span.last in FOUGHT_FOR]


def _append(platform: Platform, step: Step) -> bool:
    """With delta-rs' own retries, as people write."""
    target = platform.warehouse.table_path(BRONZE)
    (day,) = step.days
    try:
        write_rows(target, {day: (step.name,)}, run_id="somebody", said=step.name)
    except DeltaError:
        return False
    return True


def _compact(platform: Platform, step: Step) -> bool:
    said = CommitProperties(custom_metadata={"userMetadata": COMPACTOR})
    (day,) = step.days
    try:
        DeltaTable(platform.warehouse.table_path(BRONZE)).optimize.compact(
            partition_filters=[("day", "=", day.isoformat())], commit_properties=said
        )
    except DeltaError:
        return False
    return True


_ACTS: dict[str, Callable[[Platform, Step], bool]] = {
    "publish": _publish,
    "publish own": _publish,
    "roll back": _roll_back,
    "join": _join,
    "append": _append,
    "compact": _compact,
}
ACTS = len(_ACTS)  # by each process in each round


def _settle(platform: Platform) -> None:
    """What was left half-way is taken up again, as an operator would; then nothing is in flight."""
    for run in platform.ledger.runs(BRONZE, states=IN_FLIGHT):
        try:
            _take_up(platform, run)
        except Terminal:
            _end(platform, run)
    assert platform.ledger.runs(BRONZE, states=IN_FLIGHT) == ()
    assert platform.ledger.open_intents() == ()
    assert platform.ledger.open_fences(BRONZE, platform.clock()) == ()


def _take_up(platform: Platform, run: RunRecord) -> None:
    if run.kind is RunKind.ROLLBACK:
        roll_back(platform, run.run_id)
    else:
        _publish_again(platform, run)


def _publish_again(platform: Platform, run: RunRecord) -> None:
    assert run.days is not None
    publish_chunk(platform, run.run_id, DayRange(run.days.span.start, run.days.span.end_exclusive))


def _end(platform: Platform, run: RunRecord) -> None:
    if platform.ledger.run(run.run_id).state in IN_FLIGHT:
        cancel_run(
            platform.ledger,
            platform.evidence,
            run.run_id,
            actor="race",
            reason="refused",
            now=platform.clock(),
        )


def _has_appended(report: Report) -> bool:
    return report.step.act == "append" and report.answer == "DONE"


def _row_name(report: Report) -> str:
    return report.step.name


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for (act, answer), count in sorted(race(Path(folder), rounds=int(sys.argv[1])).items()):
            print(f"{act:12} {answer:18} {count:6}")  # noqa: T201
