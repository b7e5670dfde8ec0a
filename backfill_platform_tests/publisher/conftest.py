"""A fresh target for each test of the publisher."""

from pathlib import Path

import pytest

from backfill_platform_tests.publisher.tables import Lake, make_lake


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return make_lake(tmp_path)
