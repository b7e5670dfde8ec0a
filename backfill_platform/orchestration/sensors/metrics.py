"""Writes the metrics into a file twice a minute, for the node exporter's textfile collector.

It asks for no run. What it writes is read from the ledger, so a tick that is missed or lost costs
nothing but its own freshness.
"""

from pathlib import Path

import dagster as dg

from backfill_platform.domain.errors import BackfillError
from backfill_platform.engine.look.exposing import FILE_NAME, write_exposition
from backfill_platform.engine.platform import Platform

EVERY_SECONDS = 30


def make_metrics_sensor(platform: Platform, folder: Path) -> dg.SensorDefinition:
    @dg.sensor(
        name="metrics",
        minimum_interval_seconds=EVERY_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=f"Writes the metrics of all runs to {FILE_NAME} in the home's metrics folder.",
    )
    def tell_metrics() -> dg.SkipReason:
        try:
            write_exposition(platform.ledger, platform.clock, folder / FILE_NAME)
        except (BackfillError, OSError) as failure:
            return dg.SkipReason(f"The metrics were not written: {failure}")
        return dg.SkipReason(f"Wrote {folder / FILE_NAME}.")

    return tell_metrics
