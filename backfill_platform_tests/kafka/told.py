"""What a consumer of a topic is shown, from its beginning, and no more than what is committed."""

from typing import Any

from confluent_kafka import Consumer, TopicPartition

from backfill_platform.domain.announcements import Broker
from backfill_platform.publisher.topic import end_offsets

Told = tuple[Any, Any, dict[str, Any]]  # key, value, headers


def told(broker: Broker, topic: str) -> list[Told]:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.servers,
            "group.id": "tests",
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
        }
    )
    ends = end_offsets(broker, topic)
    found = [
        one for partition, end in ends.items() for one in _read(consumer, topic, partition, end)
    ]
    consumer.close()
    return sorted(found, key=lambda one: one[:2])


def _read(consumer: Consumer, topic: str, partition: int, end: int) -> list[Told]:
    found: list[Told] = []
    place = TopicPartition(topic, partition, 0)
    consumer.assign([place])
    while consumer.position([place])[0].offset < end and end:
        found += [
            (message.key(), message.value(), dict(message.headers() or ()))
            for message in consumer.consume(100, timeout=0.1)
        ]
    return found
