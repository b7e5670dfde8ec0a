"""A keyed merge is carried out by the rule and into the base that were planned, or not at all."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pyarrow as arrow
import pytest
from deltalake import DeltaTable, write_deltalake

from backfill_platform.domain.errors import ManifestDrifted
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.tables import KeyedMerge
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_tables import create_table
from backfill_platform_tests.modes import LATEST
from backfill_platform_tests.readings import week

DAYS = week(days=1)


@pytest.fixture
def declared() -> str:
    return "backfill_platform_tests.modes:DECLARATIONS"


@pytest.fixture
def planned(platform: Platform, intent: Callable[..., Any]) -> Manifest:
    """On version 1 of a target, in which somebody wrote a row of its day."""
    path, contract = platform.warehouse.table_path(LATEST), platform.catalog.contracts[LATEST]
    create_table(path, contract, partition_column="day")
    write_row(platform, DAYS.start)
    return plan_run(platform, intent(LATEST, DAYS, "merge"))


def write_row(platform: Platform, day: date) -> None:
    row = {
        "day": day,
        "meter": "a",
        "amount": 1,
        "revision": 1,
        "operation": "UPSERT",
        "produced_by_run_id": "somebody",
        "transform_version": "-",
        "input_snapshot": "-",
        "processing_mode": "LIVE",
    }
    none = arrow.array([None], arrow.string())
    rows = arrow.Table.from_pylist([row]).append_column("reference_data_version", none)
    write_deltalake(platform.warehouse.table_path(LATEST), rows, mode="append")


def forget_versions(platform: Platform) -> None:
    """As log retention does: the newest version is all that can be read."""
    path = platform.warehouse.table_path(LATEST)
    write_row(platform, week().last)
    DeltaTable(path).create_checkpoint()
    (path / "_delta_log" / f"{0:020d}.json").unlink()
    (path / "_delta_log" / f"{1:020d}.json").unlink()


def under(platform: Platform, rule: KeyedMerge) -> Platform:
    spec = replace(platform.catalog.tables[LATEST], merge=rule)
    tables = {**platform.catalog.tables, LATEST: spec}
    return replace(platform, catalog=replace(platform.catalog, tables=tables))


def test_a_base_that_can_no_longer_be_read_is_refused_before_anything_is_computed(
    platform: Platform, planned: Manifest
) -> None:
    forget_versions(platform)
    with pytest.raises(ManifestDrifted, match=r"version 1 of silver\.latest, into which it merges"):
        start_run(platform, planned.run_id)


def test_another_rule_than_the_planned_one_is_refused(
    platform: Platform, planned: Manifest
) -> None:
    changed = under(platform, KeyedMerge(version_column="amount"))
    with pytest.raises(ManifestDrifted, match="the configuration: planned"):
        start_run(changed, planned.run_id)


def test_a_base_that_is_there_may_be_merged_into(platform: Platform, planned: Manifest) -> None:
    assert start_run(platform, planned.run_id) == planned
