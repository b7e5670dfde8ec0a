"""A worker that is terminated gives its chunk back, and a cancelled run stops the Dagster runs that
carry it. No Spark: whoever comes to computing is interrupted there, by a real signal."""

import os
import signal
from collections.abc import Iterator

import dagster as dg
import pytest

from backfill_platform.domain.errors import LaunchFailed
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.carry_out.controlling import cancel_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.build import assemble
from backfill_platform.orchestration.keys import staging_key
from backfill_platform.orchestration.local_runs import LocalDagster
from backfill_platform_tests.orchestration.launching import SPARKLESS, of_days
from backfill_platform_tests.readings import BRONZE, week

DAYS = week()
FIRST, SECOND = DAYS.split(5)


@pytest.fixture
def dagster(platform: Platform, tmp_path) -> Iterator[LocalDagster]:
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        yield LocalDagster(
            platform=platform,
            definitions=assemble(platform, SPARKLESS),
            instance=instance,
            start_spark=pytest.fail,
        )


@pytest.fixture
def planned(platform: Platform, intent) -> Manifest:
    return plan_run(platform, intent(BRONZE, DAYS, "planned"))


@pytest.fixture
def computing(monkeypatch: pytest.MonkeyPatch):
    """What happens in the place of computing."""

    def happens(act) -> None:
        monkeypatch.setattr("backfill_platform.engine.carry_out.parts.chunk_frames", act)

    return happens


def terminate(*_) -> None:
    """What Dagster's run worker does to itself when its run is terminated."""
    os.kill(os.getpid(), signal.SIGINT)


def terminate_in_spark(*_) -> None:
    """While a session of its own runs, Spark's handler of the signal stands in Dagster's place."""
    raise KeyboardInterrupt


def cancel(platform: Platform, planned: Manifest) -> None:
    cancel_run(
        platform.ledger,
        platform.evidence,
        planned.run_id,
        actor="ana",
        reason="planned by mistake",
        now=platform.clock(),
    )


@pytest.mark.parametrize(
    ("interrupt", "error"),
    [
        (terminate, dg.DagsterExecutionInterruptedError),
        (terminate_in_spark, KeyboardInterrupt),
    ],
)
def test_a_terminated_worker_gives_its_chunk_back_and_the_run_may_be_tried_again(
    dagster, planned, computing, interrupt, error
):
    computing(interrupt)
    job = dagster.definitions.resolve_implicit_global_asset_job_def()
    with pytest.raises(error):
        job.execute_in_process(
            instance=dagster.instance,
            asset_selection=[staging_key(dagster.platform.catalog.tables[BRONZE])],
            tags={**of_days(FIRST), tags.RUN: planned.run_id},
        )
    (chunk,) = dagster.platform.ledger.chunks(planned.run_id)
    assert (chunk.days, chunk.status) == (FIRST, ChunkStatus.FAILED)
    assert dagster.platform.ledger.run(planned.run_id).state is RunState.FAILED
    assert "was interrupted" in dagster.platform.ledger.events(planned.run_id)[-1].cause


def test_a_launch_of_a_cancelled_run_is_refused_with_a_sentence(dagster, planned, computing):
    computing(pytest.fail)
    cancel(dagster.platform, planned)
    with pytest.raises(LaunchFailed, match=r"is CANCELLED; plan a new one"):
        dagster.stage_run(planned.run_id)
    assert dagster.platform.ledger.chunks(planned.run_id) == ()


def test_a_run_that_is_cancelled_while_a_chunk_waits_stops_there(
    dagster, planned, computing, monkeypatch
):
    """One Dagster run over all days, which the engine cuts; it is cancelled before the first."""
    computing(pytest.fail)
    waited = "backfill_platform.engine.carry_out.staging.wait_for_chunk"
    monkeypatch.setattr(waited, lambda platform, manifest: cancel(platform, manifest))
    spec = dagster.platform.catalog.tables[BRONZE]
    with pytest.raises(LaunchFailed, match="CANCELLED"):
        dagster.stage(spec, DAYS, {tags.RUN: planned.run_id})
    assert dagster.platform.ledger.chunks(planned.run_id) == ()
