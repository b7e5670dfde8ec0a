"""What every test may rely on: UTC, and one lazy Spark session for those that ask for it."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from backfill_platform.domain.intents import Intent
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.lakehouse.jars import jar_paths
from backfill_platform.lakehouse.java import find_java, provide_java_home
from backfill_platform.lakehouse.session import session_config, start_local_session
from backfill_platform.settings import enter_environment, load_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from backfill_platform.engine.platform import Platform

os.environ["TZ"] = "UTC"
time.tzset()

# A slow machine is no finding: speed is measured in benchmarks.
hypothesis.settings.register_profile("project", deadline=None)
hypothesis.settings.load_profile("project")


_LEAD_RUNS = tuple(
    f"backfill_platform_tests/{room}/" for room in ("cli", "engine", "orchestration")
)
_START_SPARK = {  # processes of their own
    "backfill_platform_tests/cli/test_life.py",
    "backfill_platform_tests/scenarios/test_browser.py",
    "backfill_platform_tests/scenarios/test_up.py",
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`make test` runs those that lead whole runs through Spark in one process, and all others
    beside it in another, which takes as long on two cores: scenarios are where there is room."""
    for item in items:
        wanted: Sequence[str] = getattr(item, "fixturenames", ())
        module = item.nodeid.partition("::")[0]
        if module in _START_SPARK or ("spark" in wanted and module.startswith(_LEAD_RUNS)):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    settings = load_settings(home=tmp_path_factory.mktemp("spark"))
    java = find_java(java_home=settings.java_home, search_path=settings.search_path)
    java_home = provide_java_home(java, settings.cache_dir)
    # Not all of a child's environment: the places of its data would outlive this fixture.
    enter_environment(
        {
            "JAVA_HOME": str(java_home),
            "SPARK_LOCAL_IP": settings.host,
            "PYSPARK_PYTHON": sys.executable,
        }
    )
    config = session_config(
        jar_paths(settings.cache_dir), cores=2, warehouse=settings.warehouse, short_lived=True
    )
    session = start_local_session(config, master="local[2]", name="tests")
    yield session
    session.stop()


@pytest.fixture
def environment() -> Iterator[None]:
    """What a verb enters as its environment is left again afterwards."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for all data of one test; settings that are loaded in it point there."""
    monkeypatch.setenv("BACKFILL_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def declared() -> str:
    """Where the declarations of `platform` stand; a test of others overrides it."""
    return "backfill_platform_tests.readings:DECLARATIONS"


@pytest.fixture
def platform(home: Path, declared: str) -> "Platform":
    """A platform over the tiny domain of `readings`, of which one week has landed, and under a
    policy that asks nobody."""
    from backfill_platform.engine.platform import open_platform
    from backfill_platform.ledger.migrate import migrate
    from backfill_platform_tests.readings import land, week

    settings = load_settings(
        catalog=declared,
        governance=Path(__file__).parent / "policies" / "nobody.yaml",
    )
    migrate(settings.ledger_url)
    land(settings.landing, week())
    return open_platform(settings)


@pytest.fixture
def intent() -> Callable[..., Intent]:
    """Makes intents over the tiny domain of `readings`. They compute all: where a test stages rows
    by hand, those are other ones than the same inputs gave before."""

    def make(table: str, days: DayRange, origin: str, **changes) -> Intent:
        given = {
            "table": table,
            "days": PartitionSet.of_range(days),
            "kind": RunKind.BACKFILL,
            "mode": ExecutionMode.BACKFILL,
            "knowledge": Knowledge.UP_TO_SNAPSHOT,
            "reason": "tests",
            "requested_by": "tests",
            "origin": origin,
            "group_id": origin,
            "transform_version": "1.0.0",
            "computes_all": True,
        }
        return Intent(**(given | changes))

    return make
