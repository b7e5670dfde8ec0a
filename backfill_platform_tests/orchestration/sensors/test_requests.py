"""How a planned run becomes requests: what is left of it, and a key for each attempt."""

from dataclasses import replace

import pytest

from backfill_platform.domain.modes import ExecutionMode, Knowledge, PublishScope, RunKind
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.carry_out.progress import begin_staging
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.keys import table_key
from backfill_platform.orchestration.sensors.requests import requests_of
from backfill_platform_tests.engine.by_hand import (
    run_by_hand,
    stage_by_hand,
    stage_chunk_by_hand,
)
from backfill_platform_tests.readings import BRONZE, week

DAYS = week()
FIRST, SECOND = DAYS.split(5)
APART = PartitionSet((week(days=2), week(DAYS.last, days=1)))
ROWS = dict.fromkeys(DAYS, ("a",))


@pytest.fixture
def plan(platform, intent):
    def make(**said):
        return plan_run(platform, intent(BRONZE, DAYS, "run", **said))

    return make


def ranges(requests) -> list[tuple[str, str]]:
    return [(one.tags[tags.RANGE_START], one.tags[tags.RANGE_END]) for one in requests]


def names(*parts) -> list[tuple[str, str]]:
    return [(part.start.isoformat(), part.last.isoformat()) for part in parts]


def keys(requests) -> set[str]:
    return {one.run_key for one in requests}


def claim(platform, manifest, days) -> None:
    start_run(platform, manifest.run_id)
    begin_staging(platform, manifest)
    platform.ledger.claim_chunk(
        manifest.run_id,
        days,
        worker="w",
        lease_seconds=60,
        max_partitions_at_once=None,
        now=platform.clock(),
    )


def fail(platform, manifest) -> None:
    (chunk,) = platform.ledger.chunks(manifest.run_id)
    platform.ledger.fail_chunk(
        manifest.run_id, chunk.chunk_id, chunk.fencing_token, error="e", now=platform.clock()
    )


def test_each_chunk_of_the_manifest_is_a_request(platform, plan):
    manifest = plan()
    requests = requests_of(platform, manifest.run_id, publishes=False)
    assert ranges(requests) == names(FIRST, SECOND)
    assert {key.to_user_string() for one in requests for key in one.asset_selection or ()} == {
        "staging/bronze/readings"
    }


def test_a_request_names_its_run_group_and_kind(platform, plan):
    manifest = plan()
    said = requests_of(platform, manifest.run_id, publishes=True)[0].tags
    assert (said[tags.RUN], said[tags.GROUP]) == (manifest.run_id, manifest.group_id)
    assert (said[tags.KIND], said[tags.PRIORITY]) == ("BACKFILL", "0")


def test_a_live_run_stands_above_others_in_the_queue(platform, plan):
    live = plan(kind=RunKind.LIVE, mode=ExecutionMode.LIVE, knowledge=Knowledge.AS_KNOWN_THEN)
    said = requests_of(platform, live.run_id, publishes=True)[0].tags
    assert (said[tags.KIND], said[tags.PRIORITY]) == ("LIVE", "10")


def test_asking_twice_is_asking_for_the_same(platform, plan):
    run_id = plan().run_id
    first = requests_of(platform, run_id, publishes=False)
    assert requests_of(platform, run_id, publishes=False) == first


def test_a_chunk_that_is_being_computed_keeps_its_key(platform, plan):
    manifest = plan()
    before = requests_of(platform, manifest.run_id, publishes=False)
    claim(platform, manifest, FIRST)
    assert requests_of(platform, manifest.run_id, publishes=False) == before


def test_a_chunk_that_has_failed_gets_another_key(platform, plan):
    manifest = plan()
    first, second = requests_of(platform, manifest.run_id, publishes=False)
    claim(platform, manifest, FIRST)
    fail(platform, manifest)
    again = requests_of(platform, manifest.run_id, publishes=False)
    assert again[0].run_key != first.run_key
    assert again[1] == second


def test_a_launch_that_ended_before_it_began_anything_is_asked_for_anew(platform, plan):
    run_id = plan().run_id
    first = requests_of(platform, run_id, publishes=False)
    assert keys(requests_of(platform, run_id, publishes=False, ended=1)).isdisjoint(keys(first))


def test_what_is_judged_is_not_staged_again(platform, plan):
    manifest = plan()
    start_run(platform, manifest.run_id)
    stage_chunk_by_hand(platform, manifest, FIRST, ROWS)
    requests = requests_of(platform, manifest.run_id, publishes=False)
    assert ranges(requests) == names(SECOND)


def test_what_was_cut_otherwise_is_asked_for_as_it_was_cut(platform, plan):
    manifest = plan()
    two, rest = week(days=2), week(week(days=3).last, days=5)
    claim(platform, manifest, two)
    requests = requests_of(platform, manifest.run_id, publishes=False)
    assert ranges(requests) == names(two, *rest.split(5))


def test_publication_alone_is_a_request_for_each_range(platform, intent):
    apart = replace(intent(BRONZE, DAYS, "apart"), days=APART)
    manifest = plan_run(platform, apart)
    stage_by_hand(platform, manifest, ROWS, APART.ranges)
    requests = requests_of(platform, manifest.run_id, publishes=True, stages=False)
    assert ranges(requests) == names(*APART.ranges)
    assert [one.asset_selection for one in requests] == [[table_key(BRONZE)]] * 2


def test_what_is_published_is_not_asked_for_again(platform, plan):
    manifest = plan()
    run_by_hand(platform, manifest, ROWS)
    assert requests_of(platform, manifest.run_id, publishes=True, stages=False) == []


def test_what_becomes_visible_at_once_is_one_request_that_names_all_days(platform, plan):
    manifest = plan(publish_scope=PublishScope.WHOLE_RUN)
    (request,) = requests_of(platform, manifest.run_id, publishes=True)
    assert ranges([request]) == names(DAYS)
    assert request.tags[tags.DAYS] == str(DAYS)


def test_what_becomes_visible_at_once_in_several_ranges_is_only_staged(platform, intent):
    apart = intent(BRONZE, DAYS, "apart", publish_scope=PublishScope.WHOLE_RUN)
    manifest = plan_run(platform, replace(apart, days=APART))
    requests = requests_of(platform, manifest.run_id, publishes=True)
    assert ranges(requests) == names(*APART.ranges)
    assert table_key(BRONZE) not in {key for one in requests for key in one.asset_selection or ()}
