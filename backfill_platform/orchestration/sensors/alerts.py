"""Every half minute: what somebody has to hear of is recorded, and then delivered. No JVM.

A channel that does not answer costs this tick a few seconds and no run anything. What a tick did
stands in its skip reason, as it launches nothing.
"""

from collections.abc import Iterator

import dagster as dg

from backfill_platform.domain.alerts import AlertEvent, AlertRound
from backfill_platform.domain.errors import BackfillError
from backfill_platform.engine.alerts.delivering import DeliveryRound, deliver_alerts
from backfill_platform.engine.alerts.raising import raise_alerts
from backfill_platform.engine.platform import Platform

EVERY_SECONDS = 30

_TOLD = {
    AlertEvent.OPENED: "opened",
    AlertEvent.CHANGED: "changed",
    AlertEvent.REMINDED: "told again",
    AlertEvent.RESOLVED: "resolved",
}


def make_alert_sensor(platform: Platform) -> dg.SensorDefinition:
    @dg.sensor(
        name="alerts",
        minimum_interval_seconds=EVERY_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Tells somebody, as alerts.yaml says, what failed, waits, or is not fresh.",
    )
    def alerts(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        try:
            raised = raise_alerts(platform)
            delivered = deliver_alerts(platform)
        except BackfillError as refused:
            return dg.SkipReason(f"{refused.code}: {refused}")
        for attempt in delivered.failures:
            context.log.warning(f"{attempt.notice.channel}: {attempt.error}")
        return dg.SkipReason(", ".join(_said(raised, delivered)) or "nothing new")

    return alerts


def _said(raised: AlertRound, delivered: DeliveryRound) -> Iterator[str]:
    for event, said in _TOLD.items():
        if count := raised.count(event):
            yield f"{count:,} {said}"
    if delivered.delivered:
        yield f"{delivered.delivered:,} delivered"
    if delivered.waiting:
        yield f"{delivered.waiting:,} postponed"
