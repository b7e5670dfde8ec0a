"""What never changes is kept by the database itself, whatever program writes to it."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import product

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from backfill_platform.domain.lifecycle import TRANSITIONS, RunState, may_follow
from backfill_platform.ledger.database import make_engine, opened, writing
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.databases import BACKENDS, fresh_ledger
from backfill_platform_tests.ledger.samples import NOW, approval, january, publish, register

LEGAL = [(one, other) for one, other in product(RunState, RunState) if may_follow(one, other)]
ILLEGAL = [pair for pair in product(RunState, RunState) if pair not in LEGAL]
ANOTHER_RUN = (
    "INTO run (run_id, group_id, origin, table_name, kind, mode, transform_version, state, "
    "manifest_json, manifest_digest, actor, reason, planned_at, updated_at) SELECT {run_id}, "
    "group_id, {origin}, table_name, kind, mode, transform_version, {state}, manifest_json, "
    "manifest_digest, actor, reason, planned_at, updated_at FROM run"
)


@pytest.fixture
def engine(ledger_url: str) -> Iterator[sa.Engine]:
    engine = make_engine(ledger_url)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module", params=BACKENDS)
def shared_engine(request: pytest.FixtureRequest) -> Iterator[sa.Engine]:
    """One run in one ledger: each test of a move begins by setting its state."""
    with fresh_ledger(request.param) as url:
        with closing(Ledger.open(url)) as ledger:
            register(ledger)
        with opened(url) as engine:
            yield engine


@contextmanager
def in_state(engine: sa.Engine, state: RunState) -> Iterator[sa.Connection]:
    """The run stands in this state, by the shortest legal way; afterwards it never did."""
    with engine.connect() as connection:
        for following in _way_to(state):
            connection.execute(sa.text(f"UPDATE run SET state = '{following}'"))
        yield connection
        connection.rollback()


def _way_to(state: RunState) -> list[RunState]:
    ways: dict[RunState, list[RunState]] = {RunState.PLANNED: []}
    while state not in ways:
        for known, way in list(ways.items()):
            for following in TRANSITIONS[known]:
                ways.setdefault(following, [*way, following])
    return ways[state]


def execute(engine: sa.Engine, statement: str) -> None:
    with writing(engine) as connection:
        connection.execute(sa.text(statement))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE run SET manifest_json = '{}'",
        "UPDATE run SET manifest_digest = 'other'",
        "UPDATE run SET origin = 'other'",
        "UPDATE run SET run_id = 'other'",
        "UPDATE run SET table_name = 'other'",
        "UPDATE run SET kind = 'REPAIR'",
        "UPDATE run SET mode = 'LIVE'",
        "UPDATE run SET transform_version = '9.9.9'",
        "UPDATE run SET days = '2025-01-01'",
        "UPDATE run SET valid_until = NULL",
        "UPDATE run SET group_id = 'other'",
        "UPDATE run SET actor = 'other'",
        "UPDATE run SET reason = 'other'",
        "UPDATE run SET planned_at = updated_at",
        "DELETE FROM run",
        "UPDATE approval SET decision = 'REJECTED'",
        "UPDATE approval SET signature = 'other'",
        "UPDATE approval SET expires_at = decided_at",
        "DELETE FROM approval",
        "UPDATE run_event SET cause = 'other'",
        "DELETE FROM run_event",
        "DELETE FROM publication",
        "DELETE FROM accepted_output",
        "UPDATE run SET state = 'NO_SUCH_STATE'",
        "UPDATE publication SET fact_at = NULL",
    ],
)
def test_the_database_refuses(ledger: Ledger, engine: sa.Engine, statement: str) -> None:
    run = register(ledger)
    ledger.record_approval(approval(run), now=NOW)
    publish(ledger, run.run_id, january(1), version=1)
    with pytest.raises(IntegrityError):
        execute(engine, statement)


def test_the_database_refuses_a_second_current_row(ledger: Ledger, engine: sa.Engine) -> None:
    publish(ledger, register(ledger, "a").run_id, january(1), version=1)
    publish(ledger, register(ledger, "b").run_id, january(1), version=2)
    with pytest.raises(IntegrityError):
        execute(engine, "UPDATE accepted_output SET superseded_at = NULL")


def test_the_database_refuses_a_second_decision_of_the_same_kind(
    ledger: Ledger, engine: sa.Engine
) -> None:
    ledger.record_approval(approval(register(ledger)), now=NOW)
    with pytest.raises(IntegrityError):
        execute(
            engine,
            "INSERT INTO approval SELECT 'other', run_id, manifest_digest, principal, role, "
            "decision, reason, decided_at, expires_at, signature FROM approval",
        )


@pytest.mark.parametrize(("state", "following"), LEGAL, ids=str)
def test_the_database_lets_every_legal_move_through(
    shared_engine: sa.Engine, state: RunState, following: RunState
) -> None:
    with in_state(shared_engine, state) as connection:
        connection.execute(sa.text(f"UPDATE run SET state = '{following}'"))
        assert connection.scalar(sa.text("SELECT state FROM run")) == following


@pytest.mark.parametrize(("state", "following"), ILLEGAL, ids=str)
def test_the_database_refuses_every_illegal_move(
    shared_engine: sa.Engine, state: RunState, following: RunState
) -> None:
    with (
        in_state(shared_engine, state) as connection,
        pytest.raises(IntegrityError, match="its state may not be left that way"),
    ):
        connection.execute(sa.text(f"UPDATE run SET state = '{following}'"))


@pytest.mark.parametrize("state", [state for state in RunState if state is not RunState.PLANNED])
def test_the_database_refuses_a_run_that_does_not_begin_as_planned(
    shared_engine: sa.Engine, state: RunState
) -> None:
    values = {"run_id": "'bf-2'", "origin": "'cli:2'", "state": f"'{state}'"}
    with pytest.raises(IntegrityError, match="begins as PLANNED"):
        execute(shared_engine, f"INSERT {ANOTHER_RUN.format(**values)}")


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT OR REPLACE " + ANOTHER_RUN.format(run_id="run_id", origin="'x'", state="'PLANNED'"),
        "INSERT OR REPLACE " + ANOTHER_RUN.format(run_id="'x'", origin="origin", state="'PLANNED'"),
        "REPLACE INTO run_event SELECT run_id, seq, 'mallory', at, cause, from_state, to_state, "
        "details, previous_hash, hash FROM run_event",
        "REPLACE INTO approval SELECT 'x', run_id, manifest_digest, principal, role, decision, "
        "'forged', decided_at, expires_at, signature FROM approval",
    ],
)
def test_sqlite_refuses_to_replace_what_is_kept(sqlite_url: str, statement: str) -> None:
    """Its REPLACE takes rows away without asking a DELETE trigger."""
    ledger = Ledger.open(sqlite_url)
    ledger.record_approval(approval(register(ledger)), now=NOW)
    with opened(sqlite_url) as engine, pytest.raises(IntegrityError, match="are kept"):
        execute(engine, statement)


@pytest.mark.parametrize(
    "table", ["run", "run_event", "approval", "publication", "accepted_output"]
)
def test_postgresql_refuses_to_truncate_what_is_kept(postgresql_url: str, table: str) -> None:
    """Its TRUNCATE asks no trigger of a row."""
    with opened(postgresql_url) as engine, pytest.raises(IntegrityError, match="are kept"):
        execute(engine, f"TRUNCATE {table} CASCADE")
