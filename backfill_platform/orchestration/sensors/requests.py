"""Turns a planned run into the Dagster runs that carry it out: one for each chunk of its plan.

The request's key is made of run and chunk, so however often a sensor asks for a run, Dagster
launches each of its chunks once.
"""

import dagster as dg

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.keys import staging_key, table_key


def requests_of(platform: Platform, run_id: RunId, *, publishes: bool) -> list[dg.RunRequest]:
    manifest = load_manifest(platform, run_id)
    spec = platform.catalog.tables[manifest.target.table]
    return [_request(spec, run_id, days, publishes=publishes) for days in manifest.chunks]


def _request(spec: TableSpec, run_id: RunId, days: DayRange, *, publishes: bool) -> dg.RunRequest:
    published = [table_key(spec.full_name)] if publishes else []
    return dg.RunRequest(
        run_key=f"{run_id}:{days}",
        asset_selection=[staging_key(spec), *published],
        tags={
            tags.RUN: run_id,
            tags.RANGE_START: days.start.isoformat(),
            tags.RANGE_END: days.last.isoformat(),
        },
    )
