"""Jobs `publish_run` and `roll_back_run`: what consumers see changes, in the engine's one commit.

Dagster's own catalog is told afterwards, from the ledger, as `backfill recover` does it: what dies
in between has published, and the same job again, or that verb, tells the rest.
"""

from collections.abc import Iterable
from datetime import date

import dagster as dg
from pydantic import Field

from backfill_platform.domain.errors import ApprovalMissing
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import publish_partitions
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.orchestration.check_following import follow_checks
from backfill_platform.orchestration.check_words import show_days
from backfill_platform.orchestration.failures import told_to_dagster
from backfill_platform.orchestration.following import follow
from backfill_platform.orchestration.jobs.acting import (
    Desk,
    OnRunConfig,
    keep_asked,
    make_job,
    tell,
)
from backfill_platform.orchestration.jobs.days import DAYS, parse_asked
from backfill_platform.planner.rollback_facts import RollbackRequest


class PublishConfig(OnRunConfig):
    days: str = Field(default="", description=DAYS)


class RollBackConfig(OnRunConfig):
    reason: str = Field(description="Why what it published is taken back.")
    ticket: str = Field(default="", description="Where it was asked for.")
    days: str = Field(default="", description=DAYS)


def make_publish_job(desk: Desk) -> dg.JobDefinition:
    @dg.op(out=dg.Out(dg.Nothing), description="Make a run's validated partitions visible.")
    def publish(context: dg.OpExecutionContext, config: PublishConfig):
        run_id = RunId(config.run)
        with told_to_dagster():
            actor = desk.actor(context, config)
            manifest = load_manifest(desk.platform, run_id)
            wanted = parse_asked(config.days) or manifest.target.partitions
            keep_asked(context, desk, run_id, "publish", actor)
            changed = _publish(desk.platform, manifest, wanted)
        _follow(context, desk.platform, manifest.target.table, wanted)
        said = f"{run_id}: {show_days(wanted)} published for {actor}; {changed} partitions changed."
        tell(context, desk, run_id, said)

    return make_job("publish_run", publish)


def make_roll_back_job(desk: Desk) -> dg.JobDefinition:
    @dg.op(
        name="roll_back",
        out=dg.Out(dg.Nothing),
        description="Return what a run published to what was there before.",
    )
    def return_days(context: dg.OpExecutionContext, config: RollBackConfig):
        """It waits for consent like any run; launched again, it goes on with what is planned."""
        with told_to_dagster():
            request = RollbackRequest(
                run_id=RunId(config.run),
                days=parse_asked(config.days),
                reason=config.reason,
                requested_by=desk.actor(context, config),
                ticket=config.ticket,
            )
            manifest = plan_rollback(desk.platform, request)
            said = _roll_back(desk.platform, manifest, request)
        _follow(context, desk.platform, manifest.target.table, manifest.target.partitions)
        tell(context, desk, manifest.run_id, said)

    return make_job("roll_back_run", return_days)


def _publish(platform: Platform, manifest: Manifest, wanted: PartitionSet) -> int:
    """How many partitions changed; each contiguous range is a commit, unless all is one."""
    if platform.ledger.run(manifest.run_id).state is RunState.PUBLISHED:
        return 0
    is_at_once = manifest.target.publish_scope.is_at_once
    parts = [wanted] if is_at_once else [PartitionSet((part,)) for part in wanted.ranges]
    done = [publish_partitions(platform, manifest.run_id, part) for part in parts]
    return sum(len(one.changed) for one in done)


def _roll_back(platform: Platform, manifest: Manifest, request: RollbackRequest) -> str:
    """Waiting for somebody is no failure: the rollback is planned, and its page says for whom."""
    try:
        done = roll_back(platform, manifest.run_id)
    except ApprovalMissing as waiting:
        return f"{waiting}\nWhen they have agreed, launch this job again: it goes on."
    return (
        f"{manifest.run_id} has taken back {show_days(manifest.target.partitions)} of "
        f"{request.run_id}, which is {done.undone.state}, in version {done.version}."
    )


def _follow(
    context: dg.OpExecutionContext, platform: Platform, table: str, days: Iterable[date]
) -> None:
    follow(context.instance, platform, table, days)
    follow_checks(context.instance, platform, table, days)
