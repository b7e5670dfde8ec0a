"""Looks at a lake before and after files were retired from it."""

import hashlib
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.retirements import Retention, RetirementReason
from backfill_platform.engine.carry_out.controlling import cancel_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import bundle
from backfill_platform.engine.retire.retiring import Retired, find_retirable, retire
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform_tests.engine.by_hand import Meters
from backfill_platform_tests.readings import BRONZE, week

DAYS = week(days=3)
FIRST_DAY = DAYS.start
RETENTION = Retention(abandoned_after_days=7, superseded_after_days=30)


def meters(*names: str, days: DayRange = DAYS) -> Meters:
    return dict.fromkeys(days, names)


def cancel(platform: Platform, manifest: Manifest) -> None:
    cancel_run(
        platform.ledger,
        platform.evidence,
        manifest.run_id,
        actor="ana",
        reason="wrong month",
        now=platform.clock(),
    )


def later(platform: Platform, **passed: float) -> Platform:
    now = platform.clock() + timedelta(**passed)
    return replace(platform, clock=lambda: now)


def target(platform: Platform) -> Path:
    return platform.warehouse.table_path(BRONZE)


def folder(platform: Platform, manifest: Manifest) -> Path:
    return platform.warehouse.staging_path(BRONZE, manifest.run_id)


def keep_beside(path: Path) -> None:
    """A Delta table of one row, such as one that a run has set aside."""
    row = pa.table({"day": pa.array([FIRST_DAY], pa.date32()), "reject_reason": ["no number"]})
    write_deltalake(path, row, partition_by=["day"])


def files(path: Path) -> dict[str, str]:
    """Each with the digest of its content."""
    return {
        found.relative_to(path).as_posix(): hashlib.sha256(found.read_bytes()).hexdigest()
        for found in path.rglob("*")
        if found.is_file()
    }


def rows(platform: Platform) -> list[tuple[Any, ...]]:
    table = DeltaTable(target(platform)).to_pyarrow_table()
    return sorted((row["day"], row["meter"]) for row in table.to_pylist())


def found(platform: Platform) -> Retired:
    (one,) = find_retirable(platform, (BRONZE,))
    assert one.problem == ""
    return one


def retired(platform: Platform, **said: Any) -> Retired:
    (one,) = retire(platform, (BRONZE,), actor="ana", **said)
    assert one.problem == ""
    return one


def obstacle(one: Retired) -> str:
    assert one.plan is not None
    return one.plan.obstacle


def would_go(platform: Platform) -> set[tuple[str | None, RetirementReason]]:
    look = found(platform).plan
    assert look is not None
    return {(part.run_id, part.reason) for part in look.parts}


def state(platform: Platform, run_id: RunId) -> RunState:
    return platform.ledger.run(run_id).state


def undo(manifest: Manifest) -> RollbackRequest:
    return RollbackRequest(
        run_id=manifest.run_id, days=None, reason="wrong meters", requested_by="on-call"
    )


def kinds(platform: Platform, manifest: Manifest) -> list[str]:
    return [record.kind for record in bundle(platform, manifest.run_id).records()]
