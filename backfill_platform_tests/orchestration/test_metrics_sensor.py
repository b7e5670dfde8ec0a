"""The sensor that writes metrics: a file each tick, and never a run."""

from pathlib import Path

import dagster as dg
import pytest

from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration.sensors.metrics import make_metrics_sensor


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


def tick(platform: Platform, folder: Path, instance: dg.DagsterInstance) -> dg.SkipReason:
    with dg.build_sensor_context(instance=instance) as context:
        answer = make_metrics_sensor(platform, folder)(context)
    assert isinstance(answer, dg.SkipReason)
    return answer


def test_a_tick_writes_the_metrics(
    platform: Platform, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    tick(platform, tmp_path / "metrics", instance)
    assert "backfill_runs" in (tmp_path / "metrics" / "backfill.prom").read_text()


def test_a_folder_that_cannot_be_written_is_told_and_raises_nothing(
    platform: Platform, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    answer = tick(platform, in_the_way, instance)
    assert "were not written" in (answer.skip_message or "")
