"""How old what is accepted may be, as Dagster is told by the declaration of a table. No Spark."""

from dataclasses import replace
from datetime import timedelta

import dagster as dg
import pytest
import yaml
from dagster._core.definitions.assets.graph.base_asset_graph import BaseAssetGraph
from dagster_pyspark import PySparkResource

from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration.build import assemble
from backfill_platform.orchestration.keys import staging_key, table_key
from backfill_platform.settings import PROJECT
from backfill_platform_tests.readings import BRONZE, SILVER


@pytest.fixture
def graph(platform: Platform) -> BaseAssetGraph:
    tables = {
        **platform.catalog.tables,
        BRONZE: replace(platform.catalog.tables[BRONZE], fresh_within_hours=30),
    }
    declared = replace(platform, catalog=replace(platform.catalog, tables=tables))
    return assemble(declared, PySparkResource(spark_config={})).resolve_asset_graph()


def test_a_published_table_is_fresh_as_long_as_it_declares(graph):
    policy = graph.get(table_key(BRONZE)).freshness_policy
    assert policy == dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=30))


def test_a_table_that_declares_nothing_is_never_late(graph):
    assert graph.get(table_key(SILVER)).freshness_policy is None


def test_staging_is_never_late(graph, platform):
    key = staging_key(platform.catalog.tables[BRONZE])
    assert graph.get(key).freshness_policy is None


def test_the_projects_instance_looks_at_freshness():
    instance = yaml.safe_load((PROJECT / "dagster.yaml").read_text())
    assert instance["freshness"] == {"enabled": True}
