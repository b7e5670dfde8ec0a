"""What was published is told on the table's topic, once, also after a crash and of a rollback."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from backfill_platform.domain.announcements import Broker
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.look.status import read_status
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.engine.publish.announcing import announce_run
from backfill_platform.engine.records import bundle
from backfill_platform.engine.recover.recovering import find_half_done, recover_run
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.ledger.migrate import migrate
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform.settings import load_settings
from backfill_platform_tests.engine.by_hand import Meters, run_by_hand
from backfill_platform_tests.kafka.declared import TOPIC
from backfill_platform_tests.kafka.told import told
from backfill_platform_tests.readings import BRONZE, land, week

DAY = week(days=1)
NOBODY = Path(__file__).parent.parent / "policies" / "nobody.yaml"
Publish = Callable[[Platform, str, str], RunId]


@pytest.fixture
def telling(home: Path, broker: Broker) -> Iterator[Platform]:
    """A platform whose readings are told on a new, empty topic."""
    settings = load_settings(
        catalog="backfill_platform_tests.kafka.declared:DECLARATIONS",
        governance=NOBODY,
        kafka_servers=broker.servers,
    )
    migrate(settings.ledger_url)
    land(settings.landing, DAY)
    admin = AdminClient({"bootstrap.servers": broker.servers})
    admin.create_topics([NewTopic(TOPIC, num_partitions=2, replication_factor=1)])[TOPIC].result(30)
    yield open_platform(settings)
    admin.delete_topics([TOPIC])[TOPIC].result(30)


@pytest.fixture
def publish(telling: Platform, intent: Callable[..., Intent]) -> Publish:
    def with_meters(platform: Platform, origin: str, names: str) -> RunId:
        manifest = plan_run(telling, intent(BRONZE, DAY, origin))
        meters: Meters = dict.fromkeys(DAY, tuple(names))
        run_by_hand(platform, manifest, meters)
        return manifest.run_id

    return with_meters


def heard(broker: Broker) -> list[str]:
    """What a follower of the topic was told, without the order between its partitions."""
    return sorted(f"{key.decode()[-1]} {value.decode()}" for key, value, _ in told(broker, TOPIC))


def silent(platform: Platform) -> Platform:
    """Nobody has told it where topics are."""
    return replace(platform, broker=None)


def rolled_back(platform: Platform, run_id: RunId) -> RunId:
    request = RollbackRequest(run_id=run_id, days=None, reason="tests", requested_by="tests")
    return roll_back(platform, plan_rollback(platform, request).run_id).manifest.run_id


def test_a_publication_tells_what_came_and_what_went(telling, publish, broker):
    publish(telling, "first", "ab")
    publish(telling, "second", "bc")
    assert heard(broker) == ["a taken back", "a told", "b told", "c told"]


def test_events_name_the_run_that_produced_the_row(telling, publish, broker):
    run_id = publish(telling, "first", "a")
    ((_, _, headers),) = told(broker, TOPIC)
    assert headers["x-run-id"] == run_id.encode()


def test_what_was_published_is_told_once_however_often_one_tells(telling, publish, broker):
    run_id = publish(telling, "first", "a")
    assert announce_run(telling, run_id) == 0
    assert heard(broker) == ["a told"]


def test_a_publication_stands_without_its_topic_and_recovery_tells_it(telling, publish, broker):
    run_id = publish(silent(telling), "first", "a")
    assert heard(broker) == []
    waiting = read_status(telling.ledger, run_id, utc_now()).next_step
    assert waiting.waits_for == f"the topic {TOPIC} to be told of it"
    assert waiting.commands == (f"backfill recover {run_id}",)
    (found,) = find_half_done(telling, run_id)
    assert [type(one).__name__ for one in found.remedies] == ["TellUntold"]
    recover_run(telling, run_id)
    assert heard(broker) == ["a told"]
    assert recover_run(telling, run_id).is_well


def test_events_that_landed_before_a_crash_are_found_and_not_told_again(telling, publish, broker):
    run_id = publish(telling, "first", "a")
    forgetful = replace(telling, ledger=_Forgetful(telling.ledger))
    assert announce_run(forgetful, run_id) == 0
    assert heard(broker) == ["a told"]


def test_a_rollback_takes_back_what_was_told(telling, publish, broker):
    publish(telling, "first", "a")
    rolled_back(telling, publish(telling, "second", "b"))
    assert heard(broker) == ["a taken back", "a told", "a told", "b taken back", "b told"]


def test_a_run_is_not_planned_where_nobody_said_where_topics_are(telling, intent):
    with pytest.raises(PlanRefused, match=r"topic 'readings\.told'.*set BACKFILL_KAFKA_SERVERS"):
        plan_run(silent(telling), intent(BRONZE, DAY, "first"))


def test_the_manifest_names_the_topic(telling, publish):
    run_id = publish(telling, "first", "a")
    assert load_manifest(telling, run_id).target.topic == TOPIC


def test_the_evidence_says_what_was_told_and_where(telling, publish):
    run_id = publish(telling, "first", "ab")
    (record,) = [one for one in bundle(telling, run_id).records() if one.kind == "announcement"]
    assert record.body == {"topic": TOPIC, "events": 2}


class _Forgetful:
    """A ledger whose process died after the topic's commit: it does not know that all was told."""

    def __init__(self, ledger) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str):
        return getattr(self._ledger, name)

    def deliveries(self, run_id: RunId):
        return tuple(replace(one, told_at=None) for one in self._ledger.deliveries(run_id))
