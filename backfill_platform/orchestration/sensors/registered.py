"""All sensors and schedules of a deployment; whoever adds one adds a line here."""

import dagster as dg

from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration.sensors import downstream, expiring, publishing, recovering
from backfill_platform.orchestration.sensors.alerts import make_alert_sensor
from backfill_platform.orchestration.sensors.daily import make_daily
from backfill_platform.orchestration.sensors.gaps import make_gap_sensor
from backfill_platform.orchestration.sensors.lineage import make_lineage_sensor
from backfill_platform.orchestration.sensors.looks import make_sensor
from backfill_platform.orchestration.sensors.metrics import make_metrics_sensor
from backfill_platform.orchestration.sensors.retiring import make_retiring
from backfill_platform.telemetry.lineage_delivery import make_delivery


def build_sensors(platform: Platform) -> list[dg.SensorDefinition]:
    return [
        make_sensor(
            platform,
            name=publishing.NAME,
            description="Asks for the publication of runs that are judged and agreed to.",
            every_seconds=publishing.EVERY_SECONDS,
            look=publishing.look_for_ready,
        ),
        make_sensor(
            platform,
            name=downstream.NAME,
            description="Restates the days below that were computed from rows that changed.",
            every_seconds=downstream.EVERY_SECONDS,
            look=downstream.look_downstream,
        ),
        make_sensor(
            platform,
            name=recovering.NAME,
            description="Finishes what died half-way, and lets it go on from where it was.",
            every_seconds=recovering.EVERY_SECONDS,
            look=recovering.look_for_dead,
        ),
        make_sensor(
            platform,
            name=expiring.NAME,
            description="Ends plans that nobody began in time.",
            every_seconds=expiring.EVERY_SECONDS,
            look=expiring.look_for_overdue,
        ),
        make_gap_sensor(platform),
        make_alert_sensor(platform),
        make_metrics_sensor(platform, platform.home / "metrics"),
        make_lineage_sensor(platform, make_delivery(platform.lineage)),
    ]


def build_schedules(platform: Platform) -> list[dg.ScheduleDefinition]:
    return [make_daily(platform), make_retiring(platform)]
