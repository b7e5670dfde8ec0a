"""A world of sensors: real definitions over an instance of their own, ticked by hand."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count

import dagster as dg
from dagster_pyspark import PySparkResource

from backfill_platform.domain.identity import RunId
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.build import assemble
from backfill_platform.orchestration.keys import staging_key

S = dg.DagsterRunStatus
_numbers = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    platform: Platform
    instance: dg.DagsterInstance
    repository: dg.RepositoryDefinition = field(repr=False)

    def tick(self, sensor: str, cursor: str | None = None):
        """What Dagster makes of a look: requests as they are submitted, or why there are none."""
        context = dg.build_sensor_context(
            instance=self.instance, cursor=cursor, repository_def=self.repository
        )
        return self.repository.get_sensor_def(sensor).evaluate_tick(context)

    def schedule(self, name: str, at: datetime):
        context = dg.build_schedule_context(
            instance=self.instance, scheduled_execution_time=at, repository_def=self.repository
        )
        return self.repository.get_schedule_def(name).evaluate_tick(context)

    def launch(
        self, requests: Iterable[dg.RunRequest], status: dg.DagsterRunStatus = S.STARTING
    ) -> tuple[str, ...]:
        """As the daemon would record them, already come to where `status` says."""
        return tuple(
            self.record(request.tags, request.asset_selection or (), status) for request in requests
        )

    def record(
        self,
        run_tags: Mapping[str, str],
        assets: Iterable[dg.AssetKey],
        status: dg.DagsterRunStatus,
    ) -> str:
        run = dg.DagsterRun(
            job_name="__ASSET_JOB",
            run_id=dg_run_id(),
            status=status,
            tags=dict(run_tags),
            asset_selection=frozenset(assets),
        )
        self.instance.run_storage.add_run(run)
        return run.run_id

    def stage_of(self, run_id: RunId, status: dg.DagsterRunStatus) -> str:
        """A launch of a planned run's staging that stands there."""
        table = self.platform.ledger.run(run_id).table
        key = staging_key(self.platform.catalog.tables[table])
        return self.record({tags.RUN: run_id}, [key], status)

    def carry_out(self, request: dg.RunRequest) -> dg.ExecuteInProcessResult:
        job = self.repository.get_job("__ASSET_JOB")
        return job.execute_in_process(
            instance=self.instance,
            asset_selection=list(request.asset_selection or ()),
            tags=dict(request.tags),
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )


def dg_run_id() -> str:
    return f"00000000-0000-4000-8000-{next(_numbers):012d}"


def make_world(platform: Platform, instance: dg.DagsterInstance) -> World:
    definitions = assemble(platform, PySparkResource(spark_config={}))
    return World(platform=platform, instance=instance, repository=definitions.get_repository_def())
