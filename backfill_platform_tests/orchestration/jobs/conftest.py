"""Jobs over the tiny domain of `readings`, under the shipped policy: seven days ask for the data
engineering lead before they are published. Spark never starts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import dagster as dg
import pytest

from backfill_platform.engine.platform import Platform, load_policy
from backfill_platform.orchestration.build import assemble
from backfill_platform.settings import PROJECT
from backfill_platform_tests.orchestration.launching import SPARKLESS, failure_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    result: dg.ExecuteInProcessResult
    instance: dg.DagsterInstance

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the output of the job's step says."""
        (output,) = [one for one in self.result.all_events if one.is_successful_output]
        return output.step_output_data.metadata

    @property
    def outcome(self) -> dict[str, Any]:
        return {name: one.value for name, one in self.metadata.items()}

    @property
    def refusal(self) -> str:
        assert not self.result.success
        return failure_of(self.result)

    def rows(self, table: str) -> list[dict[str, Any]]:
        return [dict(record.data) for record in self.metadata[table].records]


Act = Callable[..., Acted]


@pytest.fixture
def strict(platform: Platform) -> Platform:
    return replace(platform, policy=load_policy(PROJECT / "governance.yaml"))


@pytest.fixture
def instance(tmp_path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        yield instance


@pytest.fixture
def launch(instance: dg.DagsterInstance) -> Act:
    """Launches a job of this platform with this launchpad."""

    def launch(
        platform: Platform,
        job: str,
        *,
        run_tags: dict[str, str] | None = None,
        is_signed_in: bool = False,
        **config: Any,
    ) -> Acted:
        definitions = assemble(platform, SPARKLESS, is_signed_in=is_signed_in)
        found = definitions.resolve_job_def(job)
        (op,) = found.graph.node_dict
        result = found.execute_in_process(
            instance=instance,
            run_config={"ops": {op: {"config": config}}},
            tags=run_tags,
            raise_on_error=False,
        )
        return Acted(result=result, instance=instance)

    return launch


@pytest.fixture
def act(launch: Act, strict: Platform) -> Act:
    def act(job: str, **config: Any) -> Acted:
        return launch(strict, job, **config)

    return act
