"""The ordinary daily load: yesterday, for every table that lacks it and whose inputs hold it.

One launch with a name of its own: a tick that is repeated, and a Dagster run that is executed
again, join the runs that it has planned.
"""

from datetime import date, timedelta

import dagster as dg

from backfill_platform.domain.errors import BackfillError
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.watch.daily import DailyLoad, find_daily_load
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.sensors.looks import all_tables
from backfill_platform.orchestration.sensors.requests import keys_of, launch_tags

NAME = "daily_live"
CRON = "30 0 * * *"  # half an hour after midnight, UTC: what a day is made of has landed by then
REASON = "the daily load"
REQUESTED_BY = "daily-live"


def make_daily(platform: Platform) -> dg.ScheduleDefinition:
    def evaluate(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        yesterday = context.scheduled_execution_time.date() - timedelta(days=1)
        try:
            load = find_daily_load(platform, yesterday)
        except BackfillError as refused:
            return dg.SkipReason(f"{refused.code}: {refused}")
        return request_load(platform, load) if load.tables else dg.SkipReason(load.why_nothing)

    return dg.ScheduleDefinition(
        name=NAME,
        target=all_tables(platform),
        cron_schedule=CRON,
        execution_timezone="UTC",
        execution_fn=evaluate,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Loads yesterday for every daily table; skips what has not landed.",
    )


def request_load(platform: Platform, load: DailyLoad) -> dg.RunRequest:
    specs = [platform.catalog.tables[name] for name in load.tables]
    name = launch_name(load.day)
    return dg.RunRequest(
        run_key=f"{name}:{','.join(load.tables)}",
        asset_selection=[key for spec in specs for key in keys_of(spec)],
        tags={
            **launch_tags(RunKind.LIVE, DayRange.of_day(load.day)),
            tags.LAUNCH: name,
            tags.REASON: REASON,
            tags.REQUESTED_BY: REQUESTED_BY,
        },
    )


def launch_name(day: date) -> str:
    return f"daily-live-{day}"
