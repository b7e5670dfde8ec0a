"""Tells lineage twice a minute what runs did, and asks for no run.

What is due stands in the ledger, so the sensor needs no cursor: turned off and on again, or started
on another machine, it goes on where it was.
"""

import dagster as dg

from backfill_platform.domain.errors import BackfillError
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.tell.lineage import Deliver, tell_lineage

EVERY_SECONDS = 30


def make_lineage_sensor(platform: Platform, deliver: Deliver) -> dg.SensorDefinition:
    @dg.sensor(
        name="lineage",
        minimum_interval_seconds=EVERY_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Tells OpenLineage which runs and chunks began and how they ended.",
    )
    def tell() -> dg.SkipReason:
        try:
            told = tell_lineage(platform, deliver)
        except BackfillError as failure:
            return dg.SkipReason(str(failure))
        return dg.SkipReason(f"{told} events were told.")

    return tell
