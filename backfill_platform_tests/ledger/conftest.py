"""The databases that the ledger's contract holds on; a test that takes `ledger` runs on each."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from backfill_platform.ledger.migrate import migrate
from backfill_platform.ledger.store import Ledger

BACKENDS = ("sqlite",)


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Migrated once; each test gets a copy, which is faster than migrating again."""
    path = tmp_path_factory.mktemp("ledger") / "template.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(params=BACKENDS)
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path, migrated_sqlite: Path) -> str:
    assert request.param == "sqlite"
    return f"sqlite:///{shutil.copy(migrated_sqlite, tmp_path / 'ledger.db')}"


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    opened = Ledger.open(ledger_url)
    yield opened
    opened.close()
