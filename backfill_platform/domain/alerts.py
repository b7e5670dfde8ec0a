"""What somebody has to hear of: an alert, how it stands, and what is told of it to whom.

An alert is about a condition that holds, and not about a moment: it is opened once, told again when
it says something else or after a while, and resolved when the condition is over. When that is, is
decided in `governance`; how a message looks and travels, in `notifier`.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.plain import to_plain


class AlertKind(StrEnum):
    RUN_FAILED = "RUN_FAILED"  # computing or a gate failed, and nobody has taken the run up
    DUPLICATES_FOUND = "DUPLICATES_FOUND"  # staged rows repeat their key
    APPROVAL_WAITING = "APPROVAL_WAITING"  # for consent or a review, longer than it should
    GAP_NOT_REPAIRABLE = "GAP_NOT_REPAIRABLE"  # found, and not to be repaired without a person
    NOT_FRESH = "NOT_FRESH"  # the newest accepted day is older than its table promises
    RECOVERY_FAILED = "RECOVERY_FAILED"  # left half done, and nothing has finished it


class AlertSeverity(StrEnum):
    CRITICAL = "CRITICAL"  # somebody has to act now
    WARNING = "WARNING"  # somebody has to act, and the platform holds until then


class AlertState(StrEnum):
    OPEN = "OPEN"  # the condition holds
    RESOLVED = "RESOLVED"  # it is over


class AlertEvent(StrEnum):
    """Why a message is sent."""

    OPENED = "OPENED"  # for the first time
    CHANGED = "CHANGED"  # it says something else than what was told last
    REMINDED = "REMINDED"  # it says the same, and still nothing has happened
    RESOLVED = "RESOLVED"  # it is over
    TESTED = "TESTED"  # nothing has happened; somebody tries a channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    kind: AlertKind
    subject: str  # the run, the table or the finding that it is about
    table: str
    severity: AlertSeverity
    title: str
    message: str  # what, which, and what to do now; the same as long as nothing has changed

    @property
    def key(self) -> str:
        """Two alerts of one key are one."""
        return f"{self.kind}:{self.subject}"

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical_json(to_plain(self)).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRecord:
    """As the ledger keeps it."""

    alert: Alert  # as it was told last
    digest: str  # of that
    opened_at: datetime
    seen_at: datetime  # when the condition held last, to a few minutes
    told_at: datetime
    resolved_at: datetime | None
    channels: tuple[str, ...]  # that were told of it, by name

    @property
    def state(self) -> AlertState:
        return AlertState.OPEN if self.resolved_at is None else AlertState.RESOLVED


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertChange:
    """One thing to tell, and to record of an alert."""

    event: AlertEvent
    alert: Alert
    opened_at: datetime
    known_told_at: datetime | None  # when it was told last, as far as the decision knew
    channels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRound:
    """What follows from one look at everything."""

    changes: tuple[AlertChange, ...]
    seen: tuple[str, ...] = ()  # keys of open alerts that still hold

    def count(self, event: AlertEvent) -> int:
        return sum(change.event is event for change in self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One message to one channel. Its id stays however often it is sent."""

    event: AlertEvent
    alert: Alert
    opened_at: datetime
    at: datetime  # of the event
    channel: str

    @property
    def delivery_id(self) -> str:
        return _name(*self._opening, self.event.value, to_plain(self.at), self.channel)

    @property
    def conversation_id(self) -> str:
        """Of all messages about the same opening of an alert."""
        return _name(*self._opening)

    @property
    def _opening(self) -> tuple[str, str]:
        return self.alert.key, to_plain(self.opened_at)


def _name(*parts: str) -> str:
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertDelivery:
    """A message on its way, as the outbox keeps it."""

    notice: Notice
    attempts: int
    next_attempt_at: datetime
    delivered_at: datetime | None
    error: str  # of the last attempt that failed; empty when none has
