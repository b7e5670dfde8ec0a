"""Who is told of which alert, and how often: `alerts.yaml` as a value.

Rules are read from the top and the first that matches decides, as in the policy. How the file is
read stands in `alert_file`; what is worth an alert, in `alert_conditions`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

from backfill_platform.domain.alert_channels import AlertChannel
from backfill_platform.domain.alerts import Alert, AlertKind, AlertSeverity

# A message is given up after a day of attempts: whoever reads it then is told something old.
MOST_ATTEMPTS = 30
_FIRST_PAUSE = timedelta(minutes=1)  # longer than any attempt takes
_LONGEST_PAUSE = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertThresholds:
    approval_waiting_hours: int = 24
    recovery_overdue_minutes: int = 30
    failed_within_days: int = 7  # an older failure opens no alert; one that is open stays


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRule:
    """Nothing in a condition means none of that kind."""

    name: str
    kinds: tuple[AlertKind, ...] = ()
    severities: tuple[AlertSeverity, ...] = ()
    tables: tuple[str, ...] = ()  # names or patterns with * and ?
    channels: tuple[str, ...] = ()  # nobody is told when there is none
    repeat_hours: int | None = None  # without it there is no reminder

    def matches(self, alert: Alert) -> bool:
        return (
            (not self.kinds or alert.kind in self.kinds)
            and (not self.severities or alert.severity in self.severities)
            and (not self.tables or any(fnmatchcase(alert.table, name) for name in self.tables))
        )

    @property
    def matches_everything(self) -> bool:
        return not (self.kinds or self.severities or self.tables)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alerting:
    channels: Mapping[str, AlertChannel]
    rules: tuple[AlertRule, ...]  # the last one matches everything
    thresholds: AlertThresholds = AlertThresholds()

    def rule_for(self, alert: Alert) -> AlertRule:
        return next(rule for rule in self.rules if rule.matches(alert))


NOBODY_TOLD = Alerting(channels={}, rules=(AlertRule(name="nobody"),))


def next_attempt(attempts: int, now: datetime) -> datetime:
    """After that many; whoever claims a message by it has until then to say what became of it."""
    doublings = min(max(attempts - 1, 0), 10)
    return now + min(_FIRST_PAUSE * 2**doublings, _LONGEST_PAUSE)
