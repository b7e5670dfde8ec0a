"""Job `cancel_run`: a run ends before it is published, with a name and a reason.

The Dagster backfill that carries nothing else ends with it; any other Dagster run of it stops at
its next chunk. Terminating one of them only interrupts a worker (docs/adr/0003).
"""

import dagster as dg
from pydantic import Field

from backfill_platform.domain.identity import RunId
from backfill_platform.engine.carry_out.controlling import cancel_run
from backfill_platform.orchestration.ending import end_backfills
from backfill_platform.orchestration.failures import told_to_dagster
from backfill_platform.orchestration.jobs.acting import Desk, OnRunConfig, make_job, tell


class CancelConfig(OnRunConfig):
    reason: str = Field(description="Why; whoever planned it will ask.")


def make_cancel_job(desk: Desk) -> dg.JobDefinition:
    @dg.op(out=dg.Out(dg.Nothing), description="Stop a run that is not published.")
    def cancel(context: dg.OpExecutionContext, config: CancelConfig):
        platform, run_id = desk.platform, RunId(config.run)
        with told_to_dagster():
            actor = desk.actor(context, config)
            cancelled = cancel_run(
                platform.ledger,
                platform.evidence,
                run_id,
                actor=actor,
                reason=config.reason,
                now=platform.clock(),
            )
        ended = end_backfills(context.instance, platform.ledger, cancelled)
        too = f" With it ends the Dagster backfill {' and '.join(ended)}." if ended else ""
        said = f"{run_id} is cancelled by {actor}; its partitions are free.{too}"
        tell(context, desk, run_id, said)

    return make_job("cancel_run", cancel)
