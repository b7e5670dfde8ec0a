"""What never changes is kept by the database itself, whatever program writes to it."""

from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from backfill_platform.ledger.database import make_engine, writing
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import january, publish, register


@pytest.fixture
def engine(ledger_url: str) -> Iterator[sa.Engine]:
    engine = make_engine(ledger_url)
    yield engine
    engine.dispose()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE run SET manifest_json = '{}'",
        "UPDATE run SET manifest_digest = 'other'",
        "UPDATE run SET origin = 'other'",
        "UPDATE run SET run_id = 'other'",
        "DELETE FROM run",
        "UPDATE run_event SET cause = 'other'",
        "DELETE FROM run_event",
        "DELETE FROM publication",
        "DELETE FROM accepted_output",
        "UPDATE run SET state = 'NO_SUCH_STATE'",
        "UPDATE publication SET fact_at = NULL",
    ],
)
def test_the_database_refuses(ledger: Ledger, engine: sa.Engine, statement: str) -> None:
    publish(ledger, register(ledger).run_id, january(1), version=1)
    with pytest.raises(IntegrityError), writing(engine) as connection:
        connection.execute(sa.text(statement))


def test_the_database_refuses_a_second_current_row(ledger: Ledger, engine: sa.Engine) -> None:
    publish(ledger, register(ledger, "a").run_id, january(1), version=1)
    publish(ledger, register(ledger, "b").run_id, january(1), version=2)
    with pytest.raises(IntegrityError), writing(engine) as connection:
        connection.execute(sa.text("UPDATE accepted_output SET superseded_at = NULL"))
