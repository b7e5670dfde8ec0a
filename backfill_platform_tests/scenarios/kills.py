"""Kills what carries a repair, while it is at work, and starts everything again; in minutes:

    make kills

The worker of a Dagster run, the daemon, the webserver, and at last all of it at once, Spark
included. Afterwards the missing day is there, by one publication, and nothing is left half done.
"""

import sys
import tempfile
from contextlib import suppress
from datetime import date
from pathlib import Path

import psutil

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.runs import PublicationFact, RunRecord
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.recover.recovering import find_half_done
from backfill_platform_tests.scenarios.dagster_client import wait_for
from backfill_platform_tests.scenarios.night import CATALOG, HOLE, publish_by_hand
from backfill_platform_tests.scenarios.nights import NAMES, land, table
from backfill_platform_tests.scenarios.running_up import Up, prepared, running_up

LANDED = DayRange(date(2025, 1, 1), date(2025, 1, 11))
HOLED, POLICY = "hole", "night.yaml"

WORKER = "prepared_worker"  # and so the process that it was forked from

# By what is said of it: a word that its command line has; everything has the empty one.
VICTIMS = {
    "the worker of the Dagster run": WORKER,
    "the daemon": "dagster._daemon",
    "the webserver": "dagster_webserver",
    "all of it at once": "",
}


def main() -> None:
    for victim, word in VICTIMS.items():
        with tempfile.TemporaryDirectory(prefix="backfill-kills-") as folder:
            home = Path(folder) / "home"
            _make_gap(prepared(home, catalog=CATALOG, policy=POLICY), home)
            sys.stdout.write(f"{victim}: {_killed(home, word)}\n")
            sys.stdout.flush()


def _killed(home: Path, word: str) -> str:
    """Without a worker Dagster goes on by itself; without anything else all of it has to be started
    again, as whatever watches over a deployment would."""
    with running_up(home, catalog=CATALOG, policy=POLICY) as up:
        wait_for(lambda: _repair(up.platform, RunState.STAGING), seconds=300)
        _kill(up, word)
        if word == WORKER:
            return _outcome(up.platform)
    with running_up(home, catalog=CATALOG, policy=POLICY) as again:
        return _outcome(again.platform)


def _make_gap(platform: Platform, home: Path) -> None:
    for name in NAMES:
        land(home, name, LANDED, "a", "b")
    publish_by_hand(platform, HOLED, [day for day in LANDED if day != HOLE])


def _kill(up: Up, word: str) -> None:
    root = psutil.Process(up.process.pid)
    victims = [one for one in (*root.children(recursive=True), root) if word in _command(one)]
    if not victims:
        raise AssertionError(f"no process is called {word!r}")
    for one in victims:
        with suppress(psutil.NoSuchProcess):
            one.kill()


def _command(process: psutil.Process) -> str:
    with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
        return " ".join(process.cmdline())
    return ""


def _repair(platform: Platform, state: RunState) -> RunRecord | None:
    found = platform.ledger.runs(table(HOLED), kind=RunKind.REPAIR, states={state})
    return found[0] if found else None


def _outcome(platform: Platform) -> str:
    repair = wait_for(lambda: _repair(platform, RunState.PUBLISHED), seconds=600)
    accepted = platform.ledger.accepted(table(HOLED), [HOLE])[HOLE]
    landed = [
        one
        for one in platform.ledger.publications(repair.run_id)
        if one.outcome is PublicationFact.LANDED
    ]
    left = [one.run_id for one in find_half_done(platform) if not one.is_well]
    if (accepted.row_count, len(landed), left) != (2, 1, []):
        raise AssertionError(f"{accepted.row_count} rows, {len(landed)} landed, {left} half done")
    (chunk,) = platform.ledger.chunks(repair.run_id)
    return f"published once by {repair.run_id}, attempt {chunk.attempt} of its chunk"


if __name__ == "__main__":
    main()
