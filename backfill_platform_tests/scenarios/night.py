"""A night without anybody: gaps are found, repaired and told by a real daemon; in minutes:

    make night

A day is missing from one table, another is behind its landing, a run has failed on a third, and in
a fourth the missing day is poisoned. What is told of each comes from the ledger alone. The daily
load of a fifth comes in the middle of it; how long it waits is told beside one that comes alone.
"""

import sys
import tempfile
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from pathlib import Path

from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.carry_out.progress import begin_staging, fail_run
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration.sensors.gaps import SECONDS_BETWEEN
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.scenarios.dagster_client import wait_for
from backfill_platform_tests.scenarios.nights import NAMES, land, table
from backfill_platform_tests.scenarios.running_up import Up, prepared, running_up

LANDED = DayRange(date(2025, 1, 1), date(2025, 1, 11))
HOLE = date(2025, 1, 5)
CATALOG = "backfill_platform_tests.scenarios.nights:DECLARATIONS"
MENDED = ("hole", "ahead", "failed")
TWO_TICKS = timedelta(seconds=2 * SECONDS_BETWEEN)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="backfill-night-") as folder:
        home = Path(folder) / "home"
        platform = prepared(home, catalog=CATALOG, policy="night.yaml")
        _make_gaps(platform, home)
        began = platform.clock()
        with running_up(home, catalog=CATALOG, policy="night.yaml") as up:
            _tell(up, home, began=began)


def _make_gaps(platform: Platform, home: Path) -> None:
    for name in NAMES:
        land(home, name, LANDED, "a", "b")
    land(home, "poisoned", [HOLE], "a", "a")
    around = [day for day in LANDED if day != HOLE]
    for name in ("hole", "poisoned", "failed"):
        publish_by_hand(platform, name, around)
    publish_by_hand(platform, "ahead", [day for day in LANDED if day < HOLE])
    publish_by_hand(platform, "daily", LANDED)
    failed = _plan(platform, "failed", [HOLE])
    start_run(platform, failed.run_id)
    begin_staging(platform, failed)
    fail_run(platform, failed.run_id, "its worker was lost")


def publish_by_hand(platform: Platform, name: str, days: Iterable[date]) -> None:
    for part in PartitionSet.of_days(days).ranges:
        run_by_hand(platform, _plan(platform, name, part), dict.fromkeys(part, ("a", "b")))


def _plan(platform: Platform, name: str, days: Iterable[date]) -> Manifest:
    scope = PartitionSet.of_days(days)
    return plan_run(
        platform,
        Intent(
            table=table(name),
            days=scope,
            kind=RunKind.BACKFILL,
            mode=ExecutionMode.BACKFILL,
            knowledge=Knowledge.UP_TO_SNAPSHOT,
            reason="the evening before",
            requested_by="night",
            origin=f"night:{name}:{scope}",
            group_id="night",
        ),
    )


def _tell(up: Up, home: Path, *, began: datetime) -> None:
    wait_for(lambda: up.platform.ledger.runs(kind=RunKind.REPAIR) or None, seconds=180)
    beside = _daily_load(up, home, LANDED.end_exclusive)
    for name in MENDED:
        _say(f"{table(name)}: {_mended(up, name, began)}")
    _say(f"{table('poisoned')}: {_given_up(up)}")
    alone = _daily_load(up, home, LANDED.end_exclusive + timedelta(days=1))
    waits = f"{_seconds(beside)} among repairs, {_seconds(alone)} alone"
    _say(f"daily load: it began after {waits}")


def _daily_load(up: Up, home: Path, day: date) -> timedelta:
    """How long it waits in the queue, launched as the schedule launches it."""
    land(home, "daily", [day], "a", "b")
    said = {
        "backfill/kind": RunKind.LIVE.value,
        "backfill/reason": "the daily load",
        "dagster/priority": "10",
    }
    assets = ["staging/bronze/daily", "bronze/daily"]
    launched = up.client.launch_run(assets, day.isoformat(), said)
    _accepted_at(up, "daily", day)
    return up.client.waited(launched)


def _accepted_at(up: Up, name: str, day: date) -> datetime:
    def look() -> datetime | None:
        accepted = up.platform.ledger.accepted(table(name), [day])
        return accepted[day].accepted_at if day in accepted else None

    return wait_for(look, seconds=600)


def _mended(up: Up, name: str, began: datetime) -> str:
    """Planned within two ticks; what then takes its time is computed, judged and published."""
    accepted_at = _accepted_at(up, name, HOLE)
    (repair,) = up.platform.ledger.runs(table(name), kind=RunKind.REPAIR)
    _hold(repair.planned_at - began <= TWO_TICKS, f"{name} was planned late")
    return (
        f"{repair.reason}; planned after {_seconds(repair.planned_at - began)}, published after "
        f"{_seconds(accepted_at - began)} by {repair.run_id}"
    )


def _given_up(up: Up) -> str:
    """As often as the policy says, and then it is told once."""
    rules = up.platform.policy.repairs
    assert rules is not None, "the policy of the night repairs"

    def look() -> str | None:
        noted = up.platform.ledger.lasting_gaps([table("poisoned")]).values()
        return next((gap.reported_why for gap in noted if gap.reported_why), None)

    why = wait_for(look, seconds=900)
    tries = up.platform.ledger.runs(table("poisoned"), kind=RunKind.REPAIR)
    _hold(len(tries) == rules.attempts, f"the poisoned day was tried {len(tries)} times")
    _hold(not up.platform.ledger.accepted(table("poisoned"), [HOLE]), "it was published")
    return f"tried {len(tries)} times, and then told: {why}"


def _hold(holds: bool, otherwise: str) -> None:  # noqa: FBT001
    if not holds:
        raise AssertionError(otherwise)


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds():.0f} s"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
