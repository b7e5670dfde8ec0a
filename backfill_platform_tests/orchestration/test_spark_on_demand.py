"""Spark starts when somebody asks for it, and no run waits for it before."""

import dagster as dg
import pytest
from dagster_pyspark import PySparkResource

from backfill_platform.orchestration import spark_on_demand
from backfill_platform.orchestration.spark_on_demand import SparkOnDemand


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The configurations with which a session was asked for."""
    found: list[object] = []

    def start(config: object) -> str:
        found.append(config)
        return "a session"

    monkeypatch.setattr(spark_on_demand, "spark_session_from_config", start)
    return found


@pytest.fixture
def run(tmp_path):
    def run(*, times: int) -> None:
        @dg.op
        def compute(pyspark: PySparkResource) -> None:
            for _ in range(times):
                assert pyspark.spark_session == "a session"

        @dg.job(resource_defs={"pyspark": SparkOnDemand(spark_config={"spark": {"x": "1"}})})
        def job() -> None:
            compute()

        assert job.execute_in_process().success

    return run


def test_a_run_that_computes_nothing_starts_none(run, started):
    run(times=0)
    assert started == []


def test_a_run_starts_it_once_with_its_configuration(run, started):
    run(times=3)
    assert started == [{"spark": {"x": "1"}}]
