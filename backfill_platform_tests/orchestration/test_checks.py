"""What the check pages say after runs over a range of days, as Dagster has stored it. No Spark:
chunks are staged and judged by hand, and the launch finds them done."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date

import dagster as dg
import pytest
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecord,
    AssetCheckExecutionRecordStatus,
)
from dagster_pyspark import PySparkResource

from backfill_platform.domain.errors import LaunchFailed
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.verdicts import Gate, Outcome
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.build import assemble
from backfill_platform.orchestration.check_following import find_checks_behind, follow_checks
from backfill_platform.orchestration.keys import staging_key
from backfill_platform.orchestration.local_runs import LocalDagster
from backfill_platform_tests.orchestration.judged import Strays, stage_judged
from backfill_platform_tests.readings import BRONZE, START, week

DAYS = week(days=3)
KEY = Gate.KEY_UNIQUE
WARNS: Strays = {(START, KEY): Outcome.WARNED}
HOLDS: Strays = {(START, KEY): Outcome.HELD}
FAILS: Strays = {(START, KEY): Outcome.FAILED}
PASSED, FAILED = AssetCheckExecutionRecordStatus.SUCCEEDED, AssetCheckExecutionRecordStatus.FAILED

Judge = Callable[..., Manifest]


class NoSpark(PySparkResource):
    """What is staged already needs none."""

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        return


@pytest.fixture
def dagster(platform: Platform, tmp_path) -> Iterator[LocalDagster]:
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        yield LocalDagster(
            platform=platform,
            definitions=assemble(platform, NoSpark(spark_config={})),
            instance=instance,
            start_spark=pytest.fail,
        )


@pytest.fixture
def judge(platform: Platform, intent) -> Judge:
    def judge(origin: str, strays: Strays, days=DAYS) -> Manifest:
        manifest = plan_run(platform, intent(BRONZE, days, origin))
        stage_judged(platform, manifest, strays)
        return manifest

    return judge


def launch(dagster: LocalDagster, manifest: Manifest) -> None:
    """Staging, checks and publication of the whole range in one Dagster run."""
    spec = dagster.platform.catalog.tables[BRONZE]
    dagster.stage_and_publish(spec, manifest.target.partitions.span, {tags.RUN: manifest.run_id})


def rows(dagster: LocalDagster, gate: Gate = KEY) -> list[AssetCheckExecutionRecord]:
    """Everything that is stored of a check, the newest first."""
    key = dg.AssetCheckKey(staging_key(dagster.platform.catalog.tables[BRONZE]), gate.value)
    return [*dagster.instance.event_log_storage.get_asset_check_execution_history(key, limit=100)]


def newest(dagster: LocalDagster, partition: str | None) -> dg.AssetCheckEvaluation:
    row = next(row for row in rows(dagster) if row.partition == partition)
    assert row.evaluation is not None
    return row.evaluation


def table(shown: Mapping[str, dg.MetadataValue], name: str) -> list[Mapping[str, object]]:
    found = shown[name]
    assert isinstance(found, dg.TableMetadataValue)
    return [record.data for record in found.records]


def by_day(dagster: LocalDagster, gate: Gate = KEY) -> Mapping[str, object]:
    return {row.partition: row.status for row in reversed(rows(dagster, gate)) if row.partition}


def expected(outcomes: Mapping[date, object], otherwise: object = PASSED) -> dict[str, object]:
    return {day.isoformat(): outcomes.get(day, otherwise) for day in DAYS}


def test_a_run_over_a_range_leaves_one_verdict_for_each_of_its_days(dagster, judge):
    launch(dagster, judge("good", {}))
    stored = [row for row in rows(dagster) if row.partition]
    assert {row.partition: row.status for row in stored} == expected({})
    assert len(stored) == len(DAYS)


def test_every_gate_of_the_table_has_a_verdict_for_each_day(dagster, judge):
    launch(dagster, judge("good", {}))
    gates = dagster.platform.catalog.tables[BRONZE].gates
    assert {gate: by_day(dagster, gate) for gate in gates} == dict.fromkeys(gates, expected({}))


def test_a_day_that_warns_is_told_as_a_warning_and_published(dagster, judge):
    manifest = judge("odd", WARNS)
    launch(dagster, manifest)
    told = newest(dagster, START.isoformat())
    assert (told.passed, told.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert told.metadata["standing"].value == "published"
    assert set(dagster.platform.ledger.accepted(BRONZE, DAYS)) == set(DAYS)


def test_a_day_that_is_held_stops_publication_in_the_same_launch(dagster, judge):
    manifest = judge("held", HOLDS)
    with pytest.raises(LaunchFailed, match=manifest.run_id):
        launch(dagster, manifest)
    told = newest(dagster, START.isoformat())
    assert (told.passed, told.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert dagster.platform.ledger.accepted(BRONZE, DAYS) == {}


def test_days_that_passed_are_told_though_publication_was_refused(dagster, judge):
    with pytest.raises(LaunchFailed):
        launch(dagster, judge("held", HOLDS))
    assert by_day(dagster) == expected({START: FAILED})


def test_a_launch_that_only_stages_tells_every_day_of_what_is_held(dagster, judge):
    manifest = judge("held", HOLDS)
    spec = dagster.platform.catalog.tables[BRONZE]
    dagster.stage(spec, DAYS, {tags.RUN: manifest.run_id})
    assert by_day(dagster) == expected({START: FAILED})


def test_lists_of_checks_show_the_whole_run_and_not_its_last_day(dagster, judge):
    launch(dagster, judge("odd", WARNS))
    first = rows(dagster)[0]
    assert first.partition is None
    assert first.evaluation is not None
    assert "Warning on 1 of 3 days" in (first.evaluation.description or "")


def test_the_page_says_what_broke_since_when_what_is_blocked_and_what_to_do(dagster, judge):
    manifest = judge("held", HOLDS)
    with pytest.raises(LaunchFailed):
        launch(dagster, manifest)
    told = newest(dagster, START.isoformat())
    shown = {name: str(value.value) for name, value in told.metadata.items()}
    said = f"Held for an owner's review on {START}: 2 rows too many; correct the input."
    assert told.description == f"{said} Owner: meters."
    assert shown["blocked"].startswith(f"not published: {BRONZE} {DAYS}; waiting for it: silver")
    assert shown["broken since"].endswith(", this run; nobody judged it before")
    assert shown["do now"].endswith(f"backfill review {manifest.run_id}")


def test_the_page_shows_figures_accepted_runs_and_the_days_before_as_tables(dagster, judge):
    launch(dagster, judge("first", {}))
    launch(dagster, judge("odd", WARNS))
    shown = newest(dagster, START.isoformat()).metadata
    (figure,) = table(shown, "expected and found")
    assert figure == {
        "day": str(START),
        "figure": "rows",
        "expected": "0",
        "found": "2",
        "strays": "yes",
    }
    assert [line["day"] for line in table(shown, "last days")] == [str(START)]
    assert len(table(shown, "last accepted runs")) == 2


def test_a_check_says_what_its_gate_guards_and_what_follows_in_this_table(dagster):
    graph = dagster.definitions.resolve_asset_graph()
    key = dg.AssetCheckKey(staging_key(dagster.platform.catalog.tables[BRONZE]), KEY.value)
    said = graph.get_check_spec(key).description or ""
    assert said.startswith("No two rows of a day share the key. BLOCK: ")


def follow(dagster: LocalDagster) -> tuple[date, ...]:
    return follow_checks(dagster.instance, dagster.platform, BRONZE, DAYS)


def test_what_a_dagster_run_told_needs_no_telling(dagster, judge):
    launch(dagster, judge("odd", WARNS))
    assert follow(dagster) == ()


def test_what_was_judged_outside_dagster_is_told_by_day(dagster, judge):
    judge("bad", FAILS)
    assert follow(dagster) == tuple(DAYS)
    assert by_day(dagster) == expected({START: FAILED})


def test_following_checks_twice_tells_nothing_new(dagster, judge):
    judge("bad", FAILS)
    follow(dagster)
    before = rows(dagster)
    assert follow(dagster) == ()
    assert rows(dagster) == before


def test_a_day_that_is_judged_again_outside_dagster_is_told_again(dagster, judge):
    judge("bad", FAILS)
    follow(dagster)
    judge("bad again", FAILS)
    follow(dagster)
    newer = judge("good", {})
    follow(dagster)
    told = newest(dagster, START.isoformat())
    assert (told.metadata["run"].value, told.passed) == (newer.run_id, True)


def test_after_following_the_worst_is_what_lists_of_checks_show(dagster, judge):
    judge("bad", FAILS)
    follow(dagster)
    first = rows(dagster)[0]
    assert (first.partition, first.status) == (None, FAILED)


def test_only_the_newest_judgement_of_a_day_is_told(dagster, judge):
    judge("bad", FAILS)
    newer = judge("good", {})
    follow(dagster)
    assert newest(dagster, START.isoformat()).metadata["run"].value == newer.run_id


def test_whoever_died_after_the_judgement_leaves_the_rest_to_the_next(dagster, judge, monkeypatch):
    judge("bad", FAILS)
    report = dagster.instance.report_runless_asset_event
    reports = iter([report] * 5)
    with monkeypatch.context() as patched:
        patched.setattr(
            dagster.instance, "report_runless_asset_event", lambda said: next(reports)(said)
        )
        with pytest.raises(StopIteration):
            follow(dagster)
    spec = dagster.platform.catalog.tables[BRONZE]
    behind = find_checks_behind(dagster.instance, dagster.platform, BRONZE, DAYS)
    assert len(behind) == len(spec.gates) * len(DAYS) - 5
    follow(dagster)
    assert follow(dagster) == ()


def test_what_was_published_after_a_review_is_told_anew(dagster, judge):
    manifest = judge("odd", WARNS)
    spec = dagster.platform.catalog.tables[BRONZE]
    dagster.stage(spec, DAYS, {tags.RUN: manifest.run_id})
    before = newest(dagster, START.isoformat()).metadata["standing"].value
    dagster.publish(spec, DAYS, {tags.RUN: manifest.run_id})
    after = newest(dagster, START.isoformat()).metadata["standing"].value
    assert (before, after) == ("not published", "published")
    assert follow(dagster) == ()
