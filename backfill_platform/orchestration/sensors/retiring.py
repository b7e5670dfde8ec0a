"""Retires each night what the retention policy lets go of, as `backfill retire --confirm` does.

As a Dagster run of its own and not within a tick: removing files may take longer than a tick has.
"""

import dagster as dg

from backfill_platform.engine.platform import Platform
from backfill_platform.engine.retire.retiring import Retired, retire
from backfill_platform.orchestration.failures import told_to_dagster

NAME = "retire_files"
CRON = "0 4 * * *"  # after the daily load, and before people come
ACTOR = "retire-files"

NO_POLICY = "governance.yaml has no section `retention`, so nothing is ever retired"


def make_retiring(platform: Platform) -> dg.ScheduleDefinition:
    @dg.op(name="retire")
    def retire_all(context: dg.OpExecutionContext) -> None:
        with told_to_dagster():
            found = retire(platform, tuple(platform.catalog.tables), actor=ACTOR)
        for one in found:
            context.log.info(_sentence(one))
        problems = [one for one in found if one.problem]
        if problems:
            raise dg.Failure("\n".join(map(_sentence, problems)), allow_retries=False)

    @dg.job(name=NAME, executor_def=dg.in_process_executor)
    def retire_files() -> None:
        """Removes files that nobody sees and nobody may need, and records it."""
        retire_all()

    def evaluate(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        if platform.policy.retention is None:
            return dg.SkipReason(NO_POLICY)
        return dg.RunRequest(run_key=f"{NAME}:{context.scheduled_execution_time:%Y-%m-%d}")

    return dg.ScheduleDefinition(
        name=f"{NAME}_daily",
        job=retire_files,
        cron_schedule=CRON,
        execution_timezone="UTC",
        execution_fn=evaluate,
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )


def _sentence(one: Retired) -> str:
    if one.problem:
        return f"{one.table}: {one.problem}"
    records = ", ".join(record.retirement_id for record in one.done)
    return f"{one.table}: {records or 'nothing had to go'}"
