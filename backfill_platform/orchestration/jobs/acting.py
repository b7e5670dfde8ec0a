"""What the jobs share: whose act it is, on which run, and how its outcome is told.

The outcome stands in the output of the job's step and, as an observation, on the page of the run's
staging asset: what that page says of approvals and of the next step is then true again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import dagster as dg
from pydantic import Field

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.look.status import read_status
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import keep_record
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.identity import find_actor
from backfill_platform.orchestration.keys import staging_key_of
from backfill_platform.orchestration.materializations import run_metadata
from backfill_platform.orchestration.plan_tables import plan_metadata
from backfill_platform.orchestration.standing import standing_metadata

NO_MORE: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where jobs act: the platform, and whether a proxy tells who is signed in."""

    platform: Platform
    is_signed_in: bool

    def actor(self, context: dg.OpExecutionContext, config: "ActingConfig") -> str:
        return find_actor(context.run, config.acting_as, is_signed_in=self.is_signed_in)


class ActingConfig(dg.Config):
    acting_as: str = Field(
        default="",
        description="Who acts, as governance.yaml names them; left out where a proxy signs in.",
    )


class OnRunConfig(ActingConfig):
    run: str = Field(description="The id of the run, such as bf-20260704-case_sla_daily-3.1.0-001.")


def make_job(name: str, act: dg.OpDefinition) -> dg.JobDefinition:
    @dg.job(name=name, description=act.description, executor_def=dg.in_process_executor)
    def job() -> None:
        act()

    return job


def tell(
    context: dg.OpExecutionContext,
    desk: Desk,
    run_id: RunId,
    said: str,
    more: Mapping[str, Any] = NO_MORE,
) -> None:
    platform = desk.platform
    status = read_status(platform.ledger, run_id, platform.clock())
    standing = standing_metadata(status)
    metadata = {**plan_told(platform, status.manifest), **standing, **more}
    key = staging_key_of(status.run.table)
    name_run(context, status.manifest)
    context.log.info(said)
    context.log_event(dg.AssetObservation(asset_key=key, description=said, metadata=metadata))
    context.add_output_metadata({"outcome": said, **metadata})


def plan_told(platform: Platform, manifest: Manifest) -> dict[str, Any]:
    return {**run_metadata(platform.evidence, manifest), **plan_metadata(manifest)}


def name_run(context: dg.OpExecutionContext, manifest: Manifest) -> None:
    """So that whoever looks for a run finds all that was done to it."""
    tag = tags.RUN_ID_PREFIX + manifest.target.table
    context.instance.add_run_tags(context.run.run_id, {tag: manifest.run_id})


def keep_asked(
    context: dg.OpExecutionContext, desk: Desk, run_id: RunId, what: str, by: str
) -> None:
    """Who asked, where nothing else of the act is written under a name."""
    launch = context.run.run_id
    body = {"what": what, "by": by, "dagster_run": launch, "signed_in": desk.is_signed_in}
    keep_record(desk.platform, run_id, "asked", key=f"asked:{what}:{launch}", body=body)
