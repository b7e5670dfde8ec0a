"""Retires files: records what is about to go, removes it, and records that it has gone.

The intention stands in the ledger before the first file goes, and the runs whose time is over end
with it. After a kill at any point the next call finishes what was intended, and looks anew at each
file before it goes (test_a_retirement_that_died_anywhere_is_finished_by_the_next).

A rollback wins if it is planned before the files go. Planning one writes to the ledger; files go in
small batches while nobody can write there, each batch only if nothing was planned and nothing
committed to the target since the last look. A rollback that comes later finds the retirement in the
ledger (`traces`) and is refused before it touches the target. Fences over days would not do: a
holder that has asked for the last time may still commit.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from backfill_platform.domain.errors import BackfillError, DeclarationInvalid, LostRace
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.retirements import (
    Retention,
    RetiredPart,
    RetirementIntent,
    RetirementRecord,
)
from backfill_platform.engine.journal import about_table, note
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import keep_record
from backfill_platform.engine.retire.facts import gather_retirement_facts
from backfill_platform.lakehouse.paths import BESIDE, RUNS
from backfill_platform.lakehouse.removal import remove_empty_folders, remove_files, still_there
from backfill_platform.lakehouse.unreferenced import has_moved_on
from backfill_platform.planner.retirement import RetirementPlan, plan_retirement

BATCH = 200  # files, while everybody else who writes to the ledger waits: some milliseconds
_LOOKS = 10  # a table on which runs are planned faster than we look comes another time

Remove = Callable[[Path, Iterable[str]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """What was found about one table, and what was done about it, or would be."""

    table: str
    plan: RetirementPlan | None  # nothing where there is no table, or a problem
    done: tuple[RetirementRecord, ...]  # those that were finished by this call
    problem: str  # why it could not be looked at or finished; empty when it could


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What may go now, and how far ledger and log had come when that was decided."""

    plan: RetirementPlan
    mark: tuple[int, ...]
    version: int


def find_retirable(platform: Platform, tables: Iterable[str]) -> tuple[Retired, ...]:
    """What `retire` would do now; nothing is written."""
    retention = _retention(platform)
    return tuple(
        _guarded(table, lambda table: _found(table, _look(platform, table, retention)))
        for table in tables
    )


def retire(
    platform: Platform, tables: Iterable[str], *, actor: str, remove: Remove = remove_files
) -> tuple[Retired, ...]:
    """Each table as far as it can be: a problem with one stops no other. Retiring twice equals
    retiring once."""
    retention = _retention(platform)
    return tuple(
        _guarded(table, lambda table: _noted(platform, table, retention, actor, remove))
        for table in tables
    )


def _retention(platform: Platform) -> Retention:
    retention = platform.policy.retention
    if retention is None:
        raise DeclarationInvalid(
            subject="governance.yaml",
            field="retention",
            problem="is missing, so nothing is ever retired; say there how long files stay",
        )
    unknown = [name for name in retention.kept_tables if name not in platform.catalog.tables]
    if unknown:  # a mistyped name would let go what somebody has to keep
        raise DeclarationInvalid(
            subject="governance.yaml",
            field=f"retention.tables.{unknown[0]}",
            problem="no such table is declared; correct the name, or remove it",
        )
    return retention


def _guarded(table: str, look: Callable[[str], Retired]) -> Retired:
    try:
        return look(table)
    except BackfillError as problem:
        return Retired(table=table, plan=None, done=(), problem=f"{problem.code}: {problem}")


def _found(table: str, look: _Look | None) -> Retired:
    return Retired(table=table, plan=look.plan if look else None, done=(), problem="")


def _look(platform: Platform, table: str, retention: Retention) -> _Look | None:
    mark = platform.ledger.retirement_mark(table)  # first: what comes after it is noticed
    facts = gather_retirement_facts(platform, table, retention)
    if facts is None:
        return None
    return _Look(plan=plan_retirement(facts), mark=mark, version=facts.log.version)


def _noted(
    platform: Platform, table: str, retention: Retention, actor: str, remove: Remove
) -> Retired:
    with about_table(table):
        return _retire_table(platform, table, retention, actor, remove)


def _retire_table(
    platform: Platform, table: str, retention: Retention, actor: str, remove: Remove
) -> Retired:
    done: list[RetirementRecord] = []
    for _ in range(_LOOKS):
        # What another call intended, and did not come to finish.
        for record in platform.ledger.retirements(table):
            if record.finished_at is None:
                done.append(_finish(platform, record, retention, remove))
        look = _look(platform, table, retention)
        if look is None or not look.plan.parts:
            break
        try:
            intended = _intend(platform, look, retention, actor)
        except LostRace:
            continue
        done.append(_finish(platform, intended, retention, remove))
        break
    else:
        raise _restless(table)
    return replace(_found(table, look), done=tuple(done))


def _intend(platform: Platform, look: _Look, retention: Retention, actor: str) -> RetirementRecord:
    intent = RetirementIntent(
        table=look.plan.table,
        actor=actor,
        retention=retention,
        policy_digest=platform.policy.digest,
        target_version=look.version,
        parts=look.plan.parts,
        ends=look.plan.ends,
    )
    record = platform.ledger.intend_retirement(intent, mark=look.mark, now=platform.clock())
    size = sum(part.bytes for part in intent.parts)
    note(platform, "retirement_intended", files=len(intent.paths), bytes=size)
    return record


def _finish(
    platform: Platform, record: RetirementRecord, retention: Retention, remove: Remove
) -> RetirementRecord:
    """What nobody came to need has gone when this returns.

    Invariant: no file goes that is not named by an intention in the ledger and allowed by a look
    at log and ledger that nothing has overtaken (test_a_file_that_returned_meanwhile_is_spared).
    """
    path = platform.warehouse.table_path(record.intent.table)
    _remove_allowed(platform, record, retention, path, remove)
    for part in record.intent.parts:
        if part.run_id is not None:
            for place in (RUNS, BESIDE):
                remove_empty_folders(path, f"{place}/{part.run_id}")
    spared = still_there(path, record.intent.paths)
    _keep_evidence(platform, record, frozenset(spared))
    now = platform.clock()
    finished = platform.ledger.finish_retirement(record.retirement_id, spared=spared, now=now)
    note(platform, "retirement_finished", files=len(finished.retired), spared=len(spared))
    return finished


def _remove_allowed(
    platform: Platform,
    record: RetirementRecord,
    retention: Retention,
    path: Path,
    remove: Remove,
) -> None:
    table = record.intent.table
    for _ in range(_LOOKS):
        look = _look(platform, table, retention)
        if look is None:
            return
        going = sorted(record.intent.paths & look.plan.paths)
        with suppress(LostRace):
            for first in range(0, len(going), BATCH):
                with platform.ledger.nobody_plans(table, mark=look.mark, now=platform.clock()):
                    _refuse_moved(path, look)
                    remove(path, going[first : first + BATCH])
            return
    raise _restless(table)


def _refuse_moved(path: Path, look: _Look) -> None:
    if has_moved_on(path, look.version):
        raise LostRace(f"{path}: another commit came first; look again")


def _restless(table: str) -> LostRace:
    return LostRace(
        f"{table} moves all the time, so what may go could not be settled; retire it again later"
    )


def _keep_evidence(platform: Platform, record: RetirementRecord, spared: frozenset[str]) -> None:
    by_run: dict[RunId, list[RetiredPart]] = {run_id: [] for run_id in record.intent.ends}
    for part in record.intent.parts:
        if part.run_id is not None:
            by_run.setdefault(part.run_id, []).append(part)
    for run_id, parts in by_run.items():
        keep_record(
            platform,
            run_id,
            "retirement",
            key=f"retirement:{record.retirement_id}",
            body=_evidence(record, run_id, parts, spared),
        )


def _evidence(
    record: RetirementRecord, run_id: RunId, parts: list[RetiredPart], spared: frozenset[str]
) -> dict[str, object]:
    intent = record.intent
    return {
        "retirement_id": record.retirement_id,
        "actor": intent.actor,
        "retention": to_plain(intent.retention),
        "policy_digest": intent.policy_digest,
        "target_version": intent.target_version,
        "ended": run_id in intent.ends,
        "parts": [
            {
                "reason": part.reason.value,
                "possible_until": to_plain(part.possible_until),
                "files": [to_plain(file) for file in part.files if file.path not in spared],
            }
            for part in parts
        ],
    }
