"""Kills a walk at every step boundary, recovers, goes on, and compares with an undisturbed one.

Target rows, everything that was ever accepted, chunks, run states, and the evidence have to be the
same in the end; right after the crash readers see before or after, and recovery changes no row. The
default tests take what needs no Spark, and two points that do; all of it, in minutes:

    make chaos
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.engine.look.verifying import verify_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import bundle
from backfill_platform.engine.recover.recovering import find_half_done, recover
from backfill_platform.evidence.chain import EvidenceRecord
from backfill_platform_tests.readings import week
from backfill_platform_tests.scenarios.crash_walks import (
    WALKS,
    StartSpark,
    Walk,
    open_home,
    start_session,
)
from backfill_platform_tests.scenarios.crashing import Crashes

Row = tuple[str, ...]
_TIMED = {"verdicts"}  # kinds whose keys hold the time


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All that a run leaves behind, without the times at which it did so."""

    rows: list[Row]
    accepted: list[Any]
    chunks: list[Any]
    runs: list[Any]
    evidence: list[Any]
    problems: list[str]
    half_done: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A walk that may be begun from any copy of `home`, and where it leads undisturbed."""

    walk: Walk
    home: Path
    before: list[Row]
    undisturbed: Outcome
    boundaries: list[str]


def prepare(walk: Walk, folder: Path, take: Callable[[Path], list[str]]) -> Prepared:
    """`take` walks undisturbed, and tells the boundaries if it saw them."""
    home = folder / "prepared"
    platform = open_home(home)
    walk.prepare(platform)
    platform.ledger.close()
    copy = shutil.copytree(home, folder / "undisturbed")
    boundaries = take(copy)
    return Prepared(
        walk=walk,
        home=home,
        before=rows(open_home(home), walk.table),
        undisturbed=outcome(open_home(copy), walk.table),
        boundaries=boundaries,
    )


def differences(
    prepared: Prepared, boundary: str, folder: Path, crashes: Crashes, spark: StartSpark
) -> list[str]:
    """What a crash there changed for good; nothing, if all is well."""
    home = shutil.copytree(prepared.home, folder / boundary.replace(" ", "-"))
    crashes.kill(prepared.walk.name, home, boundary)
    platform = open_home(home, clock=prepared.walk.clock)
    table = prepared.walk.table
    crashed = rows(platform, table)
    recover(platform)
    recovered, again = outcome(platform, table), recover(platform)
    prepared.walk.take(platform, spark)
    return [
        *_differences_at_once(prepared, crashed, recovered),
        *(f"recovering again would do more: {one}" for one in again if not one.is_well),
        *_differing(prepared.undisturbed, outcome(platform, table)),
    ]


def outcome(platform: Platform, table: str) -> Outcome:
    runs = platform.ledger.runs(table)
    return Outcome(
        rows=rows(platform, table),
        accepted=_accepted(platform, table),
        chunks=[
            (chunk.run_id, chunk.chunk_id, chunk.status)
            for run in runs
            for chunk in platform.ledger.chunks(run.run_id)
        ],
        runs=[(run.run_id, run.state, run.superseded_by_run_id) for run in runs],
        evidence=[line for run in runs for line in _evidence(platform, run.run_id)],
        problems=[problem for run in runs for problem in _problems(platform, run.run_id)],
        half_done=[str(one) for one in find_half_done(platform) if not one.is_well],
    )


def rows(platform: Platform, table: str) -> list[Row]:
    """Of every version of the output, where every version is kept."""
    path = platform.warehouse.table_path(table)
    if not DeltaTable.is_deltatable(str(path)):
        return []
    found = DeltaTable(path).to_pyarrow_table().to_pylist()
    return sorted(tuple(map(str, row.values())) for row in found)


def _accepted(platform: Platform, table: str) -> list[Any]:
    histories = platform.ledger.accepted_histories(table, week())
    return [
        (day, one.run_id, one.row_count, one.checksum, one.superseded_by_run_id)
        for day, history in histories.items()
        for one in history
    ]


def _evidence(platform: Platform, run_id: RunId) -> list[Any]:
    """A plan is of its own time; and who was disturbed may judge the same twice."""
    found = {
        (run_id, one.kind, "" if one.kind in _TIMED else one.key, _body(one))
        for one in bundle(platform, run_id).records()
    }
    return sorted(found)


def _body(record: EvidenceRecord) -> str:
    return "" if record.kind == "plan" else canonical_json(record.body)


def _problems(platform: Platform, run_id: RunId) -> list[str]:
    verified = verify_run(platform.ledger, platform.evidence, run_id, check_signature=lambda _: "")
    return [f"{run_id}: {problem}" for problem in verified.problems]


def _differences_at_once(prepared: Prepared, crashed: list[Row], recovered: Outcome) -> list[str]:
    after = prepared.undisturbed.rows
    publishing = [run for run, state, _ in recovered.runs if state is RunState.PUBLISHING]
    found = {
        "readers saw something between before and after": crashed not in (prepared.before, after),
        "recovery changed rows": recovered.rows != crashed,
        f"{publishing} stand in PUBLISHING": bool(publishing),
        f"after recovery: {recovered.problems}": bool(recovered.problems),
    }
    return [what for what, is_so in found.items() if is_so]


def _differing(expected: Outcome, found: Outcome) -> Iterator[str]:
    for field in fields(Outcome):
        one, other = getattr(expected, field.name), getattr(found, field.name)
        if one != other:
            missing = [value for value in one if value not in other]
            more = [value for value in other if value not in one]
            yield f"{field.name}: missing {missing}, too much {more}"


def main(names: list[str]) -> int:
    failed = 0
    for name in names or WALKS:
        with tempfile.TemporaryDirectory() as folder, Crashes() as crashes:
            failed += _run_matrix(WALKS[name], Path(folder), crashes)
    return failed


def _run_matrix(walk: Walk, folder: Path, crashes: Crashes) -> int:
    prepared, failed = prepare(walk, folder, partial(crashes.survey, walk.name)), 0
    for boundary in prepared.boundaries:
        found = differences(prepared, boundary, folder, crashes, lambda: start_session(folder))
        failed += bool(found)
        print(f"{walk.name}: killed {boundary}: {'; '.join(found) or 'ok'}", flush=True)  # noqa: T201
    return failed


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
