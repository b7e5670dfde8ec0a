"""Dagster's event log in SQLite, written without opening its files anew for each event.

Dagster makes an engine for every access, so each event opens and closes its databases four times
and compiles every statement again: ten milliseconds, and a range run has events for each day and
gate. Here an engine stays with its file, and events that come together are written in one
transaction of each file, with a few statements for all that are alike. What is stored, and where,
is Dagster's own.

A power failure may take the last events with it, because no commit waits for the disk; it breaks no
file. Nothing but Dagster's pages reads them: what was decided stands in the ledger and in the
evidence, and what Dagster was not told is told again (`following`, `check_following`).
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from dagster._core.events import ASSET_EVENTS, DagsterEventType
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable as Executions
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable as Events
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.event import listen
from sqlalchemy.pool import StaticPool

_MOST_OPEN = 8  # files: the index, and the runs that were looked at last
_EVALUATION = DagsterEventType.ASSET_CHECK_EVALUATION

_Check = tuple[str, str, str | None]  # asset, check and partition


class Storage(DagsterSqliteStorage):
    """What dagster.yaml names: Dagster's own, but for the event log."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        self._event_log_storage = EventLog(os.path.join(base_dir, "history", "runs", ""))

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData, config_value: Any) -> "Storage":
        return cls.from_local(inst_data=inst_data, **config_value)


class EventLog(SqliteEventLogStorage):
    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engines: OrderedDict[str, Engine] = OrderedDict()
        self._batch = threading.local()
        self._tables: set[str] = set()
        super().__init__(base_dir, inst_data)

    def has_table(self, table_name: str) -> bool:
        """Dagster asks for each event; no table ever goes."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """All of them or none; only a crash between the commits of two files leaves them in one."""
        with self._in_one_transaction():
            for (kind, run_id), alike in groupby(events, key=_kind):
                if run_id and kind in ASSET_EVENTS:
                    self._store_asset_events(run_id, [*alike])
                elif run_id and kind is _EVALUATION:
                    self._store_evaluations(run_id, [*alike])
                else:
                    for one in alike:
                        self.store_event(one)

    def _store_asset_events(self, run_id: str, events: Sequence[EventLogEntry]) -> None:
        rows = self._inserted(run_id, events)
        newest = {one.get_dagster_event().asset_key: at for at, one in enumerate(events)}
        with self.index_connection() as connection:
            self._store_asset_event_tags(connection, events, [row["id"] for row in rows])
            for at in newest.values():  # Dagster keeps the last one of an asset beside its name
                self._store_asset_event(connection, events[at], rows[at]["id"])

    def _store_evaluations(self, run_id: str, events: Sequence[EventLogEntry]) -> None:
        rows = self._inserted(run_id, events)
        pairs = zip(events, rows, strict=True)
        told = {_check(one): one for one in (self._execution(*pair) for pair in pairs)}
        with self.index_connection() as connection:
            known = _executions(connection, run_id)
            filled = [{**one, "known": known[key]} for key, one in told.items() if key in known]
            if filled:
                values = {name: sa.bindparam(name) for name in filled[0] if name != "known"}
                is_known = Executions.c.id == sa.bindparam("known")
                connection.execute(Executions.update().where(is_known).values(values), filled)
            if new := [one for key, one in told.items() if key not in known]:
                connection.execute(Executions.insert(), new)

    def _inserted(self, run_id: str, events: Sequence[EventLogEntry]) -> list[dict[str, Any]]:
        """In the log of the run, and in the index, which numbers them."""
        rows = [self._event_to_row(one) for one in events]
        with self.run_connection(run_id) as connection:
            connection.execute(Events.insert(), rows)
        numbered = Events.insert().returning(Events.c.id, sort_by_parameter_order=True)
        with self.index_connection() as connection:
            ids = connection.execute(numbered, rows).scalars().all()
        return [{**row, "id": number} for row, number in zip(rows, ids, strict=True)]

    def _execution(self, event: EventLogEntry, row: Mapping[str, Any]) -> dict[str, Any]:
        said = event.get_dagster_event().asset_check_evaluation_data
        status = AssetCheckExecutionRecordStatus
        target = said.target_materialization_data
        return {
            "asset_key": said.asset_key.to_string(),
            "check_name": said.check_name,
            "partition": said.partition,
            "run_id": event.run_id,
            "execution_status": (status.SUCCEEDED if said.passed else status.FAILED).value,
            "evaluation_event": row["event"],
            "evaluation_event_timestamp": row["timestamp"],
            "evaluation_event_storage_id": row["id"],
            "materialization_event_storage_id": target.storage_id if target else None,
        }

    @contextmanager
    def _in_one_transaction(self) -> Iterator[None]:
        """Of each file: what is stored meanwhile shares a connection, and is seen at the end."""
        with self._db_lock, ExitStack() as opened:
            self._batch.opened, self._batch.connections = opened, {}
            try:
                yield
            finally:
                del self._batch.opened, self._batch.connections

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        if hasattr(self._batch, "connections"):
            yield self._shared(shard)
            return
        with self._db_lock:
            self._close_oldest()
            with self._engine(shard).begin() as connection:
                yield connection

    def _shared(self, shard: str) -> Connection:
        opened, connections = self._batch.opened, self._batch.connections
        if shard not in connections:
            connections[shard] = opened.enter_context(self._engine(shard).begin())
        return connections[shard]

    def _engine(self, shard: str) -> Engine:
        """Its one connection is everybody's, one at a time: the lock is held."""
        if shard not in self._engines:
            engine = sa.create_engine(
                self.conn_string_for_shard(shard),
                poolclass=StaticPool,
                connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
            )
            listen(engine, "connect", _wait_for_no_disk)
            if shard not in self._initialized_dbs:
                self._initdb(engine)
                self._initialized_dbs.add(shard)
            self._engines[shard] = engine
        self._engines.move_to_end(shard)
        return self._engines[shard]

    def _close_oldest(self) -> None:
        while len(self._engines) > _MOST_OPEN:
            _, oldest = self._engines.popitem(last=False)
            oldest.dispose()

    def dispose(self) -> None:
        super().dispose()
        with self._db_lock:
            while self._engines:
                self._engines.popitem()[1].dispose()


def _wait_for_no_disk(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA synchronous=NORMAL")


def _kind(event: EventLogEntry) -> tuple[DagsterEventType | None, str]:
    return event.dagster_event_type if event.is_dagster_event else None, event.run_id


def _check(execution: Mapping[str, Any]) -> _Check:
    return execution["asset_key"], execution["check_name"], execution["partition"]


def _executions(connection: Connection, run_id: str) -> dict[_Check, int]:
    """What waits for a verdict of this run, or has one already."""
    columns = (Executions.c.asset_key, Executions.c.check_name, Executions.c.partition)
    asked = sa.select(*columns, Executions.c.id).where(Executions.c.run_id == run_id)
    return {(asset, check, day): number for asset, check, day, number in connection.execute(asked)}
