"""Dagster's catalog says what is accepted now, however it came about. No Spark: staged by hand."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest
from dagster_pyspark import PySparkResource

from backfill_platform.domain.errors import EngineUnavailable
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.build import assemble
from backfill_platform.orchestration.following import find_behind, follow
from backfill_platform.orchestration.keys import table_key
from backfill_platform.orchestration.local_runs import LocalDagster
from backfill_platform.orchestration.partitions import daily_partitions
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand
from backfill_platform_tests.readings import BRONZE, START, week

DAYS = week(days=3)
PUBLISHED = table_key(BRONZE)
BELOW = dg.AssetKey("below")
FRESH, STALE = StaleStatus.FRESH, StaleStatus.STALE

Publish = Callable[..., Manifest]


@pytest.fixture
def dagster(platform: Platform, tmp_path) -> Iterator[LocalDagster]:
    """With an asset below the table, which computes nothing."""
    days = daily_partitions(platform.catalog.tables[BRONZE])

    @dg.asset(key=BELOW, deps=[PUBLISHED], partitions_def=days)
    def below() -> None:
        return

    own = assemble(platform, PySparkResource(spark_config={}))
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        yield LocalDagster(
            platform=platform,
            definitions=dg.Definitions.merge(own, dg.Definitions(assets=[below])),
            instance=instance,
            start_spark=pytest.fail,
        )


@pytest.fixture
def publish(dagster: LocalDagster, intent) -> Publish:
    """In a Dagster run, as one range."""

    def publish(origin: str, *meters: str, days=DAYS) -> Manifest:
        manifest = plan_run(dagster.platform, intent(BRONZE, days, origin))
        stage_by_hand(dagster.platform, manifest, dict.fromkeys(days, meters))
        dagster.publish_run(manifest.run_id)
        return manifest

    return publish


def undo(platform: Platform, manifest: Manifest, reason: str = "wrong") -> Manifest:
    request = RollbackRequest(run_id=manifest.run_id, days=None, reason=reason, requested_by="me")
    return roll_back(platform, plan_rollback(platform, request).run_id).manifest


def follow_bronze(dagster: LocalDagster, days: Iterable[date] = DAYS) -> tuple[date, ...]:
    return follow(dagster.instance, dagster.platform, BRONZE, days)


def latest(dagster: LocalDagster, day: date = START) -> dg.AssetMaterialization:
    of_day = dg.AssetRecordsFilter(asset_key=PUBLISHED, asset_partitions=[day.isoformat()])
    (record,) = dagster.instance.fetch_materializations(of_day, limit=1).records
    assert record.asset_materialization is not None
    return record.asset_materialization


def said(dagster: LocalDagster, *names: str, day: date = START) -> list[object]:
    return [latest(dagster, day).metadata[name].value for name in names]


def compute_below(dagster: LocalDagster, day: date) -> None:
    job = dagster.definitions.resolve_implicit_global_asset_job_def()
    job.execute_in_process(
        instance=dagster.instance,
        asset_selection=[BELOW],
        partition_key=day.isoformat(),
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
    )


def status_below(dagster: LocalDagster, day: date = START) -> StaleStatus:
    """As the UI asks for it."""
    graph = dagster.definitions.resolve_asset_graph()
    context = LoadingContextForTest(dagster.instance)
    resolver = CachingStaleStatusResolver(dagster.instance, graph, context)
    return resolver.get_status(BELOW, day.isoformat())


def test_a_rolled_back_partition_says_what_is_seen_again_by_whom_and_why(dagster, publish):
    first = publish("first", "a", "b")
    second = publish("second", "c")
    rollback = undo(dagster.platform, second, reason="counted twice")
    assert follow_bronze(dagster) == tuple(DAYS)
    accepted = dagster.platform.ledger.accepted(BRONZE, DAYS)[START]
    assert said(dagster, "dagster/row_count", "checksum", "accepted run") == [
        2,
        accepted.checksum,
        rollback.run_id,
    ]
    assert said(dagster, "rolled back by", "undone run", "rows of", "reason") == [
        rollback.run_id,
        second.run_id,
        first.run_id,
        "counted twice",
    ]
    assert said(dagster, "delta version") == [accepted.target_version]


def test_a_rolled_back_partition_is_tagged_as_one(dagster, publish):
    undo(dagster.platform, publish("first", "a"))
    follow_bronze(dagster)
    assert (latest(dagster).tags or {})[tags.KIND] == "ROLLBACK"


def test_following_twice_tells_nothing_new(dagster, publish):
    publish("first", "a")
    undo(dagster.platform, publish("second", "b"))
    follow_bronze(dagster)
    assert follow_bronze(dagster) == ()


def test_what_a_dagster_run_published_needs_no_telling(dagster, publish):
    publish("first", "a")
    assert follow_bronze(dagster) == ()


def test_what_was_published_outside_dagster_is_told(dagster, platform, intent):
    manifest = plan_run(platform, intent(BRONZE, DAYS, "outside"))
    run_by_hand(platform, manifest, dict.fromkeys(DAYS, ("a", "b")))
    assert follow_bronze(dagster) == tuple(DAYS)
    assert said(dagster, "accepted run", "dagster/row_count") == [manifest.run_id, 2]
    assert "rolled back by" not in latest(dagster).metadata


def test_only_the_days_that_are_asked_for_are_told(dagster, publish):
    undo(dagster.platform, publish("first", "a"))
    assert follow_bronze(dagster, [START]) == (START,)
    assert len(find_behind(dagster.instance, dagster.platform.ledger, BRONZE, DAYS)) == 2


def test_whoever_dies_while_telling_leaves_the_rest_to_the_next(dagster, publish, monkeypatch):
    undo(dagster.platform, publish("first", "a"))
    report = dagster.instance.report_runless_asset_event
    reports = iter([report])

    def die(event) -> None:
        next_report = next(reports, None)
        if next_report is None:
            raise EngineUnavailable("killed")
        next_report(event)

    with monkeypatch.context() as patched:
        patched.setattr(dagster.instance, "report_runless_asset_event", die)
        with pytest.raises(EngineUnavailable):
            follow_bronze(dagster)
    assert follow_bronze(dagster) == tuple(DAYS)[1:]


def test_a_partition_that_was_emptied_says_that_no_row_is_left(dagster, publish):
    undo(dagster.platform, publish("first", "a"))
    follow_bronze(dagster)
    assert said(dagster, "dagster/row_count", "rows of") == [0, "no run"]
    assert (latest(dagster).description or "").endswith("no row is left.")


def test_what_was_computed_from_rows_that_were_taken_back_is_outdated(dagster, publish):
    publish("first", "a")
    second = publish("second", "b", days=week(days=1))
    compute_below(dagster, START)
    compute_below(dagster, DAYS.last)
    undo(dagster.platform, second)
    follow_bronze(dagster)
    assert [status_below(dagster, day) for day in (START, DAYS.last)] == [STALE, FRESH]


def test_what_was_computed_from_an_emptied_partition_is_outdated(dagster, publish):
    first = publish("first", "a")
    compute_below(dagster, START)
    undo(dagster.platform, first)
    follow_bronze(dagster)
    assert status_below(dagster) is STALE


def test_what_was_computed_from_the_returned_rows_is_up_to_date_again(dagster, publish):
    publish("first", "a")
    compute_below(dagster, START)
    second = publish("second", "b")
    before = status_below(dagster)
    undo(dagster.platform, second)
    follow_bronze(dagster)
    assert (before, status_below(dagster)) == (STALE, FRESH)


def test_a_publication_of_equal_rows_makes_nothing_below_outdated(dagster, publish):
    publish("first", "a")
    compute_below(dagster, START)
    publish("again", "a")
    assert status_below(dagster) is FRESH


def test_a_publication_of_other_rows_makes_what_is_below_outdated(dagster, publish):
    publish("first", "a")
    compute_below(dagster, START)
    publish("other", "b")
    assert status_below(dagster) is STALE
