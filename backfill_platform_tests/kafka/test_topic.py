"""Events of a publication become visible together and once, on a real broker."""

import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from confluent_kafka import Producer

from backfill_platform.domain.announcements import Broker, Delivery, Event
from backfill_platform.domain.errors import EngineUnavailable, SettingsInvalid, StagingIncomplete
from backfill_platform.publisher.topic import DELIVERY_HEADER, deliver, end_offsets
from backfill_platform_tests.kafka.told import told

EVENTS = tuple(
    Event(key=f"case-{number}".encode(), value=b"{}", headers=(("x-run-id", b"run"),))
    for number in range(5)
)


def delivery_of(broker: Broker, topic: str, name: str = "run/2025-01-01") -> Delivery:
    return Delivery(
        delivery_id=name,
        topic=topic,
        events_count=len(EVENTS),
        starts=end_offsets(broker, topic),
    )


def test_every_event_is_told_with_its_key_and_headers(broker, topic):
    delivered = deliver(broker, delivery_of(broker, topic), EVENTS)
    headers = {"x-run-id": b"run", DELIVERY_HEADER: b"run/2025-01-01"}
    assert not delivered.was_there
    assert told(broker, topic) == [(event.key, event.value, headers) for event in EVENTS]


def test_events_are_told_once_however_often_one_tries(broker, topic):
    delivery = delivery_of(broker, topic)
    deliver(broker, delivery, EVENTS)
    again = deliver(broker, delivery, EVENTS)
    assert again.was_there
    assert len(told(broker, topic)) == len(EVENTS)


def test_other_deliveries_of_the_same_topic_are_not_taken_for_ours(broker, topic):
    delivery = delivery_of(broker, topic)
    deliver(broker, replace(delivery, delivery_id="another run"), EVENTS)
    assert not deliver(broker, delivery, EVENTS).was_there
    assert len(told(broker, topic)) == 2 * len(EVENTS)


def test_a_delivery_without_events_tells_nothing(broker, topic):
    delivery = replace(delivery_of(broker, topic), events_count=0)
    deliver(broker, delivery, ())
    assert told(broker, topic) == []


def test_fewer_events_than_intended_are_not_told_at_all(broker, topic):
    with pytest.raises(StagingIncomplete, match="is to tell 5 events and found 4"):
        deliver(broker, delivery_of(broker, topic), EVENTS[1:])
    assert told(broker, topic) == []


def test_an_attempt_that_was_killed_halfway_shows_nothing_and_the_next_one_tells_all(broker, topic):
    delivery = delivery_of(broker, topic)
    killed = _send_half_and_die(broker, delivery)
    assert killed == -signal.SIGKILL
    assert not deliver(broker, delivery, EVENTS).was_there
    assert len(told(broker, topic)) == len(EVENTS)


def test_a_topic_that_is_not_there_is_named_and_not_created(broker):
    with pytest.raises(SettingsInvalid, match=r"There is no topic 'missing'.*create it"):
        end_offsets(broker, "missing")


def test_a_broker_that_is_away_is_to_be_tried_again(broker, topic):
    delivery = delivery_of(broker, topic)
    away = Broker(servers="127.0.0.1:1", answer_seconds=1)
    with pytest.raises(EngineUnavailable, match=r"Kafka at 127\.0\.0\.1:1"):
        deliver(away, delivery, EVENTS)


def test_a_password_is_never_shown():
    assert "secret" not in repr(Broker(servers="kafka:9093", username="u", password="secret"))


def _send_half_and_die(broker: Broker, delivery: Delivery) -> int:
    """In a process of its own, which is killed within its transaction."""
    done = subprocess.run(
        [sys.executable, __file__, broker.servers, delivery.topic, delivery.delivery_id]
    )
    return done.returncode


def _die_within_a_transaction(servers: str, topic: str, delivery_id: str) -> None:
    producer = Producer({"bootstrap.servers": servers, "transactional.id": delivery_id})
    producer.init_transactions(30)
    producer.begin_transaction()
    mark = (DELIVERY_HEADER, delivery_id.encode())
    for event in EVENTS[:3]:
        producer.produce(topic, key=event.key, value=event.value, headers=[mark])
    producer.flush(30)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    _die_within_a_transaction(*sys.argv[1:])
