"""Walks in a process of its own, which kills itself with SIGKILL at a step boundary.

A boundary is before or after any write to the ledger, to a target's log, to staging or to the
evidence. They are found by wrapping these from outside, in the child alone: the product knows of
none. `before` and `after` are told apart by the write's own name and number in the walk.
"""

import inspect
import json
import os
import signal
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache, wraps
from pathlib import Path
from subprocess import PIPE
from typing import Any, NoReturn, Self

from backfill_platform.engine.carry_out import starting
from backfill_platform.engine.platform import Platform
from backfill_platform.evidence.bundle import EvidenceBundle
from backfill_platform.ledger.store import Ledger
from backfill_platform.publisher import replace_partitions
from backfill_platform_tests.scenarios.crash_walks import (
    WALKS,
    StartSpark,
    open_home,
    start_session,
)

_ONLY_READ = {"all_in_flight", "open_fences", "refuse_stale", "runs_in_flight"}
_BY_THE_CLOCK = {"renew_fence", "renew_lease"}  # after half a minute, so no walk comes to them


class Fate:
    """Counts boundaries, and ends the process at the fatal one."""

    def __init__(self, fatal: str) -> None:
        self._fatal = fatal
        self._times: Counter[str] = Counter()
        self.passed: list[str] = []

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def doomed(*given: Any, **named: Any) -> Any:
            self._times[name] += 1
            step = f"{name} {self._times[name]}"
            self._pass(f"before {step}")
            done = function(*given, **named)
            self._pass(f"after {step}")
            return done

        return doomed

    def _pass(self, boundary: str) -> None:
        self.passed.append(boundary)
        if boundary == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)


class DoomedLedger:
    """The ledger's facade, in which every write is a step."""

    def __init__(self, ledger: Ledger, fate: Fate) -> None:
        self._ledger = ledger
        self._fate = fate

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._ledger, name)
        return self._fate.around(name, found) if name in WRITES else found


def _writes() -> frozenset[str]:
    """Whatever writes takes the time as a parameter."""
    named = {
        name
        for name, member in vars(Ledger).items()
        if not name.startswith("_")
        and inspect.isfunction(member)
        and "now" in inspect.signature(member).parameters
    }
    return frozenset(named - _ONLY_READ - _BY_THE_CLOCK)


WRITES = _writes()


class Crashes:
    """A process that has imported everything and done nothing else: each walk is a fork of it, so
    that it starts at once and inherits no thread of a library at work."""

    def __enter__(self) -> Self:
        self._stem = subprocess.Popen(
            [sys.executable, "-m", __name__], stdin=PIPE, stdout=PIPE, text=True, bufsize=1
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._stem.communicate()

    def survey(self, walk: str, home: Path) -> list[str]:
        """Every boundary of an undisturbed walk."""
        told = self._walk(walk, home, fatal="")
        assert told["exit_code"] == 0, f"the {walk} could not be walked"
        return told["passed"]

    def kill(self, walk: str, home: Path, boundary: str) -> None:
        told = self._walk(walk, home, fatal=boundary)
        assert told["exit_code"] == -signal.SIGKILL, f"the {walk} never came to {boundary!r}"

    def _walk(self, walk: str, home: Path, fatal: str) -> Any:
        assert self._stem.stdin, "it was opened with a pipe"
        assert self._stem.stdout, "it was opened with a pipe"
        self._stem.stdin.write(f"{json.dumps([walk, str(home), fatal])}\n")
        return json.loads(self._stem.stdout.readline())


def _serve() -> None:
    for line in sys.stdin:
        walk, home, fatal = json.loads(line)
        passed = Path(home) / "passed.json"
        child = os.fork()
        if child == 0:
            _walk(walk, Path(home), fatal, passed)
        _, status = os.waitpid(child, 0)
        told = {"exit_code": os.waitstatus_to_exitcode(status)}
        if told["exit_code"] == 0:
            told["passed"] = json.loads(passed.read_text())
        print(json.dumps(told), flush=True)  # noqa: T201


def _walk(walk: str, home: Path, fatal: str, passed: Path) -> NoReturn:
    fate = Fate(fatal)
    try:
        platform = _doomed(open_home(home), fate)
        WALKS[walk].take(platform, _start_spark(home, fate))
    except Exception:  # noqa: BLE001 - the outermost edge of this process
        traceback.print_exc()
        os._exit(1)
    passed.write_text(json.dumps(fate.passed))
    os._exit(0)  # it is a fork: what its parent would do at its end is none of its business


def _doomed(platform: Platform, fate: Fate) -> Platform:
    """What is no part of the platform's value is wrapped where it is called, in this process."""
    _wrap(fate, replace_partitions, "commit_replacement", "commit")
    _wrap(fate, starting, "create_table", "create target")
    _wrap(fate, starting, "create_staging_table", "create staging")
    _wrap(fate, EvidenceBundle, "append", "evidence")
    _wrap(fate, EvidenceBundle, "write_manifest", "manifest in evidence")
    doomed: Any = DoomedLedger(platform.ledger, fate)
    return replace(platform, ledger=doomed)


def _wrap(fate: Fate, owner: Any, name: str, label: str) -> None:
    setattr(owner, name, fate.around(label, getattr(owner, name)))


def _start_spark(home: Path, fate: Fate) -> StartSpark:
    @cache
    def start() -> Any:
        # Here, because most walks need no Spark and wait for none.
        from backfill_platform.engine.carry_out import staging

        _wrap(fate, staging, "write_chunk", "write chunk")
        return start_session(home)

    return start


if __name__ == "__main__":
    _serve()
