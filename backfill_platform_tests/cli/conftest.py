"""The command line over the tiny domain of `readings`; nothing here needs Spark."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from backfill_platform.cli import main
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.submitting import spark_home
from backfill_platform.settings import PROJECT, child_environment, load_settings
from backfill_platform_tests.readings import BRONZE, week

NOBODY = Path(__file__).parent.parent / "policies" / "nobody.yaml"
SHIPPED = PROJECT / "governance.yaml"


@dataclass(frozen=True)
class Answer:
    exit_code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        return json.loads(self.stdout)


Call = Callable[..., Answer]


@pytest.fixture
def call(platform: Platform, monkeypatch: pytest.MonkeyPatch, environment: None) -> Call:
    """Calls `backfill` in this process, at no terminal; the policy asks nobody."""
    monkeypatch.setenv("BACKFILL_CATALOG", "backfill_platform_tests.readings:DECLARATIONS")
    monkeypatch.setenv("BACKFILL_GOVERNANCE", str(NOBODY))
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> Answer:
        answer = CliRunner().invoke(main.app, arguments, prog_name="backfill")
        return Answer(answer.exit_code, answer.stdout, answer.stderr)

    return run


@pytest.fixture
def publish(call: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """What the verb enters as its environment, and Dagster needs, is left again afterwards."""
    settings = load_settings()
    settings.dagster_storage.mkdir(exist_ok=True)
    for name, value in child_environment(settings, java_home=home, spark_home=spark_home()).items():
        monkeypatch.setenv(name, value)
    return lambda *said: call("publish", *said)


@pytest.fixture
def shipped_policy(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is called from here on, the policy that is shipped decides."""
    monkeypatch.setenv("BACKFILL_GOVERNANCE", str(SHIPPED))


@pytest.fixture
def planned(platform: Platform, intent) -> Manifest:
    return plan_run(platform, intent(BRONZE, week(days=3), "plan:1"))
