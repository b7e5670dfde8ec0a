"""Keeps a run within its limits by waiting, and stops it where waiting cannot help.

How long to wait is decided in `governance.throttle`, from what the ledger remembers of the run; so
a limit holds over retries, over several workers and over restarts.
"""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

from backfill_platform.domain.errors import LimitExceeded, RunStopped
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import STOPPED
from backfill_platform.domain.limits import NO_LIMITS
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.platform import Platform
from backfill_platform.governance.throttle import ONE_HOUR, ChunkTaken, Pace
from backfill_platform.planner.scope import input_days

LOOK_EVERY_SECONDS = 5.0  # whether the run was stopped meanwhile


def rows_read(manifest: Manifest, days: DayRange) -> int:
    """Of all inputs, warm-up and late days included, as the manifest pinned them."""
    total = 0
    for pinned in manifest.inputs:
        wanted = input_days(days, pinned.window)
        total += sum(count for day, count in pinned.rows.items() if day in wanted)
    return total


def rows_read_by_chunk(manifest: Manifest, days: DayRange) -> int:
    """By the parts of it that are computed; a day that two of them need counts twice."""
    return sum(rows_read(manifest, part) for part in manifest.computed_parts(days))


def cost_of_rows(manifest: Manifest, rows: int) -> Decimal:
    """At the expected rate of the estimate."""
    estimate = manifest.estimate
    if estimate.rows_read == 0:
        return Decimal(0)
    return estimate.cost_usd.expected * rows / estimate.rows_read


def wait_for_chunk(platform: Platform, manifest: Manifest) -> None:
    if manifest.safety.limits != NO_LIMITS:
        _refuse_exceeded(platform, manifest)
        _wait(platform, manifest, lambda pace: pace.seconds_until_next_chunk(platform.clock()))


def hold_chunk(platform: Platform, manifest: Manifest) -> None:
    """After it was computed, and before it counts as finished."""
    if manifest.safety.limits != NO_LIMITS:
        _wait(platform, manifest, lambda pace: pace.seconds_until_finished(platform.clock()))


def wait_for_commit(platform: Platform, manifest: Manifest) -> None:
    if manifest.safety.limits.max_commits_per_hour is not None:
        _wait(platform, manifest, lambda pace: pace.seconds_until_commit(platform.clock()))


def wait_while_running(platform: Platform, run_id: RunId, seconds: float) -> None:
    """In short pieces: a run that is cancelled while it waits stops at once."""
    until = platform.clock() + timedelta(seconds=seconds)
    while (left := (until - platform.clock()).total_seconds()) > 0:
        refuse_stopped(platform, run_id)
        platform.wait(min(left, LOOK_EVERY_SECONDS))


def refuse_stopped(platform: Platform, run_id: RunId) -> None:
    state = platform.ledger.run(run_id).state
    if state in STOPPED:
        raise RunStopped(
            f"Run {run_id} is {state}, so nothing of it goes on. Plan a new run if it is still "
            "wanted"
        )


def _wait(platform: Platform, manifest: Manifest, seconds_left: Callable[[Pace], float]) -> None:
    while (seconds := seconds_left(_pace(platform, manifest))) > 0:
        wait_while_running(platform, manifest.run_id, seconds)


def _refuse_exceeded(platform: Platform, manifest: Manifest) -> None:
    pace = _pace(platform, manifest)
    rows = sum(chunk.rows for chunk in pace.chunks)
    why = pace.exceeded(cost_usd=cost_of_rows(manifest, rows))
    if why is not None:
        raise LimitExceeded(f"Run {manifest.run_id} stops: {why}")


def _pace(platform: Platform, manifest: Manifest) -> Pace:
    hour_ago = platform.clock() - ONE_HOUR
    return Pace(
        limits=manifest.safety.limits,
        chunks=tuple(
            ChunkTaken(
                rows=rows_read_by_chunk(manifest, chunk.days) * chunk.attempt,
                bytes=_bytes(manifest, rows_read_by_chunk(manifest, chunk.days) * chunk.attempt),
                started_at=chunk.started_at,
                finished_at=chunk.finished_at,
            )
            for chunk in platform.ledger.chunks(manifest.run_id)
        ),
        commits=platform.ledger.commit_times(manifest.run_id, hour_ago),
    )


def _bytes(manifest: Manifest, rows: int) -> int:
    """The manifest pins rows by day; bytes are spread over them."""
    estimate = manifest.estimate
    return rows * estimate.bytes_read // estimate.rows_read if estimate.rows_read else 0
