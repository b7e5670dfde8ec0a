"""What a night has left open: of ten tables each, a judged run, a failed one and a plan too old.

Led there by the engine, as far as it goes without Spark.
"""

from dataclasses import replace
from datetime import timedelta

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from benchmarks.scale.shapes import Place
from benchmarks.scale.staged import fail_at_once, stage_run
from benchmarks.world import intent

EACH = 10
_MONTH = 30


def leave_open(platform: Platform, place: Place) -> None:
    for number, table in enumerate(platform.catalog.tables):
        match number % EACH:
            case 2:
                stage_run(platform, _plan(platform, place, table), with_files=False)
            case 3:
                lately = _ago(platform, days=2)
                fail_at_once(lately, _plan(lately, place, table))
            case 4:
                _plan(_ago(platform, days=4), place, table)
            case _:
                pass


def _plan(platform: Platform, place: Place, table: str) -> Manifest:
    end = place.days.end_exclusive - timedelta(days=_MONTH)
    days = DayRange(max(place.days.start, end - timedelta(days=_MONTH)), end)
    return plan_run(platform, intent(f"launch:open-{table}", days, table))


def _ago(platform: Platform, *, days: int) -> Platform:
    now = platform.clock
    return replace(platform, clock=lambda: now() - timedelta(days=days))
