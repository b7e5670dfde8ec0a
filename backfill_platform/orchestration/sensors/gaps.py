"""Looks for gaps each minute, plans the repairs that the policy allows, and launches them.

A repair that is planned and not begun is requested at each tick, under a name that Dagster launches
once: a tick that dies between planning and requesting loses nothing. What the sensor's process has
looked at and has not changed since is not opened again.
"""

import dagster as dg

from backfill_platform.domain.errors import BackfillError
from backfill_platform.engine.gaps.memory import GapMemory
from backfill_platform.engine.gaps.repairing import RepairRound, repair_gaps, startable_repairs
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration.sensors.requests import requests_of

SECONDS_BETWEEN = 60


def make_gap_sensor(platform: Platform) -> dg.SensorDefinition:
    memory = GapMemory()

    @dg.sensor(
        name="gaps",
        target=dg.AssetSelection.all(),
        minimum_interval_seconds=SECONDS_BETWEEN,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Finds gaps in tables, and repairs what `repairs` in governance.yaml allows.",
    )
    def gaps(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        try:
            done = repair_gaps(platform, memory=memory)
        except BackfillError as refused:
            return dg.SkipReason(f"{refused.code}: {refused}")
        for gap in done.reported:
            if gap.gap.key in done.told:
                context.log.warning(f"{gap.gap.key}: {gap.gap.message}; not repaired: {gap.why}")
        requests = [
            request
            for repair in startable_repairs(platform)
            for request in requests_of(platform, repair.run_id, publishes=repair.publishes)
        ]
        return dg.SensorResult(run_requests=requests) if requests else dg.SkipReason(_said(done))

    return gaps


def _said(done: RepairRound) -> str:
    left = f"; tables left to the next tick: {len(done.left)}" if done.left else ""
    return (
        f"gaps: {len(done.gaps)}; planned: {len(done.planned)}; waiting: {len(done.postponed)}; "
        f"not repaired unattended: {len(done.reported)}{left}"
    )
