"""A database that is locked or lost in the middle: nothing half written, and then it goes on."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from backfill_platform.domain.errors import EngineUnavailable, PartitionsHeld
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.runs import Moved
from backfill_platform.ledger.database import make_engine, opened, writing
from backfill_platform.ledger.holding import wait_for_table
from backfill_platform.ledger.runs import insert_run
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    NOW,
    TABLE,
    approval,
    january,
    move,
    new_run,
    register,
    rejection,
)

IMPATIENT_SECONDS = 0.05


@pytest.fixture
def run_id(ledger: Ledger) -> RunId:
    return register(ledger).run_id


@contextmanager
def impatient(url: str) -> Iterator[Ledger]:
    engine = make_engine(url, busy_timeout_seconds=IMPATIENT_SECONDS)
    yield Ledger(engine)
    engine.dispose()


@contextmanager
def held_by_another(url: str, run_id: RunId) -> Iterator[None]:
    """Another program has written this run and has not committed."""
    with opened(url) as engine, writing(engine) as connection:
        statement = sa.text("UPDATE run SET updated_at = updated_at WHERE run_id = :run_id")
        connection.execute(statement, {"run_id": run_id})
        yield


def test_a_move_that_waits_too_long_changes_nothing(
    ledger: Ledger, ledger_url: str, run_id: RunId
) -> None:
    before = ledger.run(run_id)
    with (
        held_by_another(ledger_url, run_id),
        impatient(ledger_url) as hurried,
        pytest.raises(EngineUnavailable, match="nothing was changed"),
    ):
        move(hurried, run_id, RunState.PLANNED, RunState.APPROVED)
    assert ledger.run(run_id) == before
    assert ledger.verify_run(run_id) == ()


def test_readers_do_not_wait_for_a_writer(ledger: Ledger, ledger_url: str, run_id: RunId) -> None:
    with held_by_another(ledger_url, run_id), impatient(ledger_url) as hurried:
        assert hurried.run(run_id).state is RunState.PLANNED


def test_a_decision_that_waits_too_long_is_not_half_recorded(
    ledger: Ledger, ledger_url: str, run_id: RunId
) -> None:
    run = ledger.run(run_id)
    with (
        held_by_another(ledger_url, run_id),
        impatient(ledger_url) as hurried,
        pytest.raises(EngineUnavailable),
    ):
        hurried.record_approval(rejection(run), now=NOW)
    assert ledger.approvals(run_id) == ()
    assert ledger.record_approval(rejection(run), now=NOW).run.state is RunState.REJECTED


def test_a_registration_waits_for_one_that_is_not_committed(
    ledger: Ledger, ledger_url: str
) -> None:
    """Its row cannot be seen yet, so nothing but standing in line keeps the partitions apart."""
    days = PartitionSet.of_range(january(1, 3))
    with opened(ledger_url) as engine, writing(engine) as connection:
        wait_for_table(connection, TABLE)
        insert_run(connection, new_run("first", days=days)(1), NOW)
        with impatient(ledger_url) as hurried, pytest.raises(EngineUnavailable):
            register(hurried, "second", january(3), version="4.0.0")
    with pytest.raises(PartitionsHeld):
        register(ledger, "second", january(3), version="4.0.0")


class LosesItsServer:
    """Takes the connection away after a statement: as when the server dies before the commit."""

    def __init__(self, engine: sa.Engine, *, after: str) -> None:
        self.after = after
        event.listen(engine, "after_cursor_execute", self._look)

    def _look(self, connection: sa.Connection, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith(self.after):
            backend = connection.connection.dbapi_connection.info.backend_pid  # type: ignore[union-attr]
            with opened(str(connection.engine.url)) as other, writing(other) as killer:
                killer.execute(sa.text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": backend})


@pytest.mark.parametrize("statement", ["UPDATE run", "INSERT INTO run_event"])
def test_a_database_that_is_lost_in_the_middle_of_a_move_keeps_nothing_of_it(
    postgresql_url: str, statement: str
) -> None:
    ledger = Ledger.open(postgresql_url)
    before = register(ledger)
    engine = make_engine(postgresql_url)
    LosesItsServer(engine, after=statement)
    with pytest.raises(EngineUnavailable, match="nothing was changed"):
        move(Ledger(engine), before.run_id, RunState.PLANNED, RunState.APPROVED)
    assert ledger.run(before.run_id) == before
    move(ledger, before.run_id, RunState.PLANNED, RunState.APPROVED)
    assert ledger.verify_run(before.run_id) == ()
    engine.dispose()
    ledger.close()


@pytest.mark.parametrize("statement", ["INSERT INTO approval", "INSERT INTO run_event"])
def test_a_database_that_is_lost_in_the_middle_of_a_decision_keeps_nothing_of_it(
    postgresql_url: str, statement: str
) -> None:
    ledger = Ledger.open(postgresql_url)
    run = register(ledger)
    engine = make_engine(postgresql_url)
    LosesItsServer(engine, after=statement)
    with pytest.raises(EngineUnavailable):
        Ledger(engine).record_approval(approval(run), now=NOW)
    assert (ledger.approvals(run.run_id), len(ledger.events(run.run_id))) == ((), 1)
    engine.dispose()
    ledger.close()


def test_a_ledger_goes_on_after_its_server_was_restarted(postgresql_url: str) -> None:
    """Its pooled connection is dead by then, and must not be what the next call fails with."""
    ledger = Ledger.open(postgresql_url)
    run_id = register(ledger).run_id
    with opened(postgresql_url) as engine, writing(engine) as connection:
        connection.execute(
            sa.text(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    outcome = ledger.move(
        run_id, RunState.PLANNED, RunState.APPROVED, actor="a", cause="c", details={}, now=NOW
    )
    assert isinstance(outcome, Moved)
    ledger.close()


def test_a_process_that_dies_before_its_commit_leaves_nothing(sqlite_url: str) -> None:
    ledger = Ledger.open(sqlite_url)
    before = register(ledger)
    dying = sqlite3.connect(str(sa.make_url(sqlite_url).database), isolation_level=None)
    dying.execute("BEGIN IMMEDIATE")
    dying.execute("UPDATE run SET state = 'APPROVED'")
    dying.close()
    assert ledger.run(before.run_id) == before
    assert ledger.verify_run(before.run_id) == ()


def test_a_file_that_is_no_database_is_an_error_of_the_platform(sqlite_url: str) -> None:
    ledger = Ledger.open(sqlite_url)
    register(ledger)
    for path in Path(str(sa.make_url(sqlite_url).database)).parent.glob("ledger.db*"):
        path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(EngineUnavailable, match="nothing was changed"):
        ledger.runs()


def test_a_server_that_is_not_there_is_an_error_of_the_platform(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match="Look whether its disk or server is there"):
        Ledger.open(f"postgresql://nobody@/none?host={tmp_path}")
