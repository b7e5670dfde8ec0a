"""Ends plans that nobody began in time, so that their partitions are free again."""

import dagster as dg

from backfill_platform.engine.platform import Platform
from backfill_platform.engine.watch.expiring import expire_overdue
from backfill_platform.orchestration.sensors.looks import Answer

NAME = "expire_plans"
EVERY_SECONDS = 300

_AT_ONCE = 100


def look_for_overdue(
    platform: Platform, instance: dg.DagsterInstance, cursor: str | None
) -> Answer:
    ended = expire_overdue(platform, limit=_AT_ONCE)
    if not ended:
        return Answer(said="No plan is overdue.")
    names = ", ".join(record.run_id for record in ended)
    return Answer(said=f"Nobody began these in time, so they are EXPIRED: {names}.")
