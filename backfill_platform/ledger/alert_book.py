"""The part of the ledger that is about alerts: each method is one transaction, as in `store`.

Whoever looks for what is worth an alert reads here; whoever delivers messages claims them here.
"""

from collections.abc import Collection, Iterable
from datetime import datetime

import sqlalchemy as sa

from backfill_platform.domain.alert_facts import HalfDone, RepeatedKeys, StandingRun
from backfill_platform.domain.alerts import AlertChange, AlertDelivery, AlertRecord, AlertRound
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.ledger import alert_deliveries as _deliveries
from backfill_platform.ledger import alert_facts as _facts
from backfill_platform.ledger import alert_waits as _waits
from backfill_platform.ledger import alerts as _alerts
from backfill_platform.ledger.column_types import require_aware
from backfill_platform.ledger.database import reading, writing


class AlertBook:
    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def open_alerts(self) -> tuple[AlertRecord, ...]:
        """The oldest first."""
        with reading(self._engine) as connection:
            return _alerts.read_open(connection)

    def resolved_alerts(self, *, limit: int = 100) -> tuple[AlertRecord, ...]:
        """The newest end first."""
        with reading(self._engine) as connection:
            return _alerts.read_resolved(connection, limit)

    def record_round(self, found: AlertRound, *, now: datetime) -> tuple[AlertChange, ...]:
        """The changes that nobody else has recorded meanwhile; the others are not told."""
        if not (found.changes or found.seen):
            return ()
        require_aware(now)
        with writing(self._engine) as connection:
            return _alerts.record_round(connection, found, now)

    def due_deliveries(
        self, now: datetime, *, most_attempts: int, without: Collection[str], limit: int
    ) -> tuple[AlertDelivery, ...]:
        """What waits longest first, of other channels than those; of one alert and channel only
        the first."""
        with reading(self._engine) as connection:
            return _deliveries.read_due(
                connection, now, most_attempts=most_attempts, without=without, limit=limit
            )

    def deliveries_of(self, records: Iterable[AlertRecord]) -> tuple[AlertDelivery, ...]:
        """The oldest first."""
        opened = [(record.alert.key, record.opened_at) for record in records]
        with reading(self._engine) as connection:
            return _deliveries.read_of_alerts(connection, opened)

    def undelivered(self, *, limit: int = 100) -> tuple[AlertDelivery, ...]:
        """Those of which an attempt has failed, also of alerts that are over."""
        with reading(self._engine) as connection:
            return _deliveries.read_undelivered(connection, limit)

    def count_waiting(self, *, most_attempts: int) -> int:
        with reading(self._engine) as connection:
            return _deliveries.count_waiting(connection, most_attempts=most_attempts)

    def claim_delivery(self, due: AlertDelivery, *, until: datetime) -> bool:
        """Whether this worker may send it; until then nobody else may."""
        with writing(self._engine) as connection:
            return _deliveries.claim(connection, due, until=until)

    def record_delivered(self, delivery_id: str, *, now: datetime) -> None:
        with writing(self._engine) as connection:
            _deliveries.record_delivered(connection, delivery_id, now)

    def record_failed(self, delivery_id: str, *, error: str) -> None:
        with writing(self._engine) as connection:
            _deliveries.record_failed(connection, delivery_id, error)

    def standing_runs(
        self,
        states: Collection[RunState],
        *,
        since: datetime,
        also: Collection[str],
        limit: int,
    ) -> tuple[StandingRun, ...]:
        """Those that moved last, and those of `also` that stand like that."""
        with reading(self._engine) as connection:
            return _facts.read_standing(connection, states, since=since, also=also, limit=limit)

    def states(self, run_ids: Collection[str]) -> dict[RunId, RunState]:
        with reading(self._engine) as connection:
            return _facts.read_states(connection, run_ids)

    def made_good(self, failed: Iterable[StandingRun]) -> frozenset[RunId]:
        """Those of which consumers see each day from a later publication."""
        with reading(self._engine) as connection:
            return _facts.read_made_good(connection, failed)

    def repeated_keys(self, run_ids: Collection[str]) -> tuple[RepeatedKeys, ...]:
        with reading(self._engine) as connection:
            return _facts.read_repeated_keys(connection, run_ids)

    def awaiting_consent(self, *, limit: int) -> tuple[StandingRun, ...]:
        """Those that wait longest."""
        with reading(self._engine) as connection:
            return _waits.read_awaiting(connection, limit)

    def held_runs(self, *, limit: int) -> tuple[tuple[StandingRun, datetime], ...]:
        """Of which something was held, reviewed or not, and since when."""
        with reading(self._engine) as connection:
            return _waits.read_held(connection, limit)

    def count_unreviewed(self, run_id: RunId) -> int:
        with reading(self._engine) as connection:
            return _waits.count_unreviewed(connection, run_id)

    def missing_roles(self, run_id: RunId, now: datetime) -> tuple[str, ...]:
        with reading(self._engine) as connection:
            return _waits.read_missing_roles(connection, run_id, now)

    def half_done(self, before: datetime, *, limit: int) -> tuple[HalfDone, ...]:
        with reading(self._engine) as connection:
            return _facts.read_half_done(connection, before, limit)
