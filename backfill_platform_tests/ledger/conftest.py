"""A test that takes `ledger` or `ledger_url` runs on each database: the contract is one."""

from collections.abc import Iterator

import pytest

from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.databases import BACKENDS, empty_database, fresh_ledger


@pytest.fixture(params=BACKENDS)
def ledger_url(request: pytest.FixtureRequest) -> Iterator[str]:
    with fresh_ledger(request.param) as url:
        yield url


@pytest.fixture(params=BACKENDS)
def empty_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where no ledger is yet."""
    with empty_database(request.param) as url:
        yield url


@pytest.fixture
def sqlite_url() -> Iterator[str]:
    with fresh_ledger("sqlite") as url:
        yield url


@pytest.fixture
def postgresql_url() -> Iterator[str]:
    with fresh_ledger("postgresql") as url:
        yield url


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    opened = Ledger.open(ledger_url)
    yield opened
    opened.close()
