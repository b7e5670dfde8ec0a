"""Tells all events of a publication on a topic, once: in one transaction of a Kafka producer.

After any crash the topic decides, as a target's log does for files. Beginning again with the same
transactional id ends whatever an earlier attempt left open; then either all of its events are
visible or none is, and a header in each says to which publication they belong. Nothing here knows
what the events mean.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from tenacity import retry, retry_if_exception, stop_after_delay, wait_fixed

from backfill_platform.domain.announcements import Broker, Delivered, Delivery, Event
from backfill_platform.domain.errors import EngineUnavailable, SettingsInvalid, StagingIncomplete

DELIVERY_HEADER = "x-delivery-id"
COMMIT_SECONDS = 120.0
PASSES_WITHIN_SECONDS = 15.0
PAUSE_SECONDS = 0.1
# A broker refuses more than its own limit, which is a quarter of an hour unless it says otherwise.
TRANSACTION_MS = 900_000
READ_AT_ONCE = 1000


def end_offsets(broker: Broker, topic: str) -> dict[int, int]:
    """Where each partition of the topic ends now."""
    with _translated(broker), _reading(broker) as consumer:
        return {
            partition: _end(consumer, topic, partition) for partition in _partitions(broker, topic)
        }


def deliver(broker: Broker, delivery: Delivery, events: Iterable[Event]) -> Delivered:
    """Doing it twice equals doing it once (test_events_are_told_once_however_often_one_tries).

    Raises `EngineUnavailable` when the broker does not answer or the transaction was aborted: then
    nothing is visible, or what is visible is found by the next attempt.
    """
    with _translated(broker):
        producer = Producer(_options(broker) | _transactional(delivery))
        producer.init_transactions(broker.answer_seconds)
        there = _count_there(broker, delivery)
        if there == 0 and delivery.events_count:
            _send(producer, delivery, events)
        elif there != delivery.events_count:
            raise StagingIncomplete(
                f"{delivery.topic} holds {there} of {delivery.events_count} events of "
                f"{delivery.delivery_id}: the topic has dropped or compacted some of them. "
                "Tell its consumers, and read the corrections from their table"
            )
        return Delivered(ends=end_offsets(broker, delivery.topic), was_there=there > 0)


def _send(producer: Producer, delivery: Delivery, events: Iterable[Event]) -> None:
    mark = (DELIVERY_HEADER, delivery.delivery_id.encode())
    sent = 0
    producer.begin_transaction()
    try:
        for event in events:
            _produce(producer, delivery.topic, event, mark)
            sent += 1
        if sent != delivery.events_count:
            raise StagingIncomplete(
                f"{delivery.delivery_id} is to tell {delivery.events_count} events and found "
                f"{sent}; nothing was told. Run `backfill recover`, then try again"
            )
        producer.commit_transaction(COMMIT_SECONDS)
    except BaseException:
        producer.abort_transaction(COMMIT_SECONDS)
        raise


def _produce(producer: Producer, topic: str, event: Event, mark: tuple[str, bytes]) -> None:
    """Waits while the broker is slower than we are."""
    while True:
        try:
            producer.produce(
                topic, key=event.key, value=event.value, headers=[*event.headers, mark]
            )
        except BufferError:
            producer.poll(1.0)
        else:
            return


def _count_there(broker: Broker, delivery: Delivery) -> int:
    """Only what is committed, and only what came after the delivery was intended."""
    with _reading(broker) as consumer:
        return sum(
            _count_marked(consumer, delivery, partition, start)
            for partition, start in delivery.starts.items()
        )


def _count_marked(consumer: Consumer, delivery: Delivery, partition: int, start: int) -> int:
    end, found = _end(consumer, delivery.topic, partition), 0
    consumer.assign([TopicPartition(delivery.topic, partition, start)])
    while _position(consumer, delivery.topic, partition, start) < end:
        for message in consumer.consume(READ_AT_ONCE, timeout=PAUSE_SECONDS):
            _refuse_error(message)
            found += _mark_of(message) == delivery.delivery_id.encode()
    return found


def _position(consumer: Consumer, topic: str, partition: int, start: int) -> int:
    """Moves past transaction marks too, which are never handed out."""
    position = consumer.position([TopicPartition(topic, partition)])[0].offset
    return position if position >= 0 else start


def _refuse_error(message: Message) -> None:
    error = message.error()
    if error is not None:
        raise KafkaException(error)


def _mark_of(message: Message) -> bytes | None:
    found = [value for name, value in message.headers() or () if name == DELIVERY_HEADER]
    value = found[-1] if found else None
    return value.encode() if isinstance(value, str) else value


def _partitions(broker: Broker, topic: str) -> tuple[int, ...]:
    known = (
        AdminClient(_options(broker))
        .list_topics(topic, timeout=broker.answer_seconds)
        .topics[topic]
    )
    if known.error is not None:
        raise SettingsInvalid(
            f"There is no topic {topic!r} at {broker.servers} ({known.error}); create it, with as "
            "many partitions as its consumers need, and try again"
        )
    return tuple(sorted(known.partitions))


def _is_passing(error: BaseException) -> bool:
    """A partition that was just made, or whose leader changes, is there in a moment."""
    return isinstance(error, KafkaException) and bool(error.args[0].retriable())


@retry(
    retry=retry_if_exception(_is_passing),
    wait=wait_fixed(PAUSE_SECONDS),
    stop=stop_after_delay(PASSES_WITHIN_SECONDS),
    reraise=True,
)
def _end(consumer: Consumer, topic: str, partition: int) -> int:
    place = TopicPartition(topic, partition)
    return consumer.get_watermark_offsets(place, timeout=PASSES_WITHIN_SECONDS)[1]


@contextmanager
def _reading(broker: Broker) -> Iterator[Consumer]:
    """Assigned by hand: it belongs to no group and commits no offset of anybody."""
    consumer = Consumer(
        _options(broker)
        | {
            "group.id": "backfill-platform-looks",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
        }
    )
    try:
        yield consumer
    finally:
        consumer.close()


def _transactional(delivery: Delivery) -> dict[str, str | int | float | bool]:
    return {"transactional.id": delivery.delivery_id, "transaction.timeout.ms": TRANSACTION_MS}


def _options(broker: Broker) -> dict[str, str | int | float | bool]:
    options: dict[str, str | int | float | bool] = {
        "bootstrap.servers": broker.servers,
        "log_level": 2,  # what matters comes back as an error
    }
    if broker.username:
        options |= {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": broker.username,
            "sasl.password": broker.password,
        }
    return options


@contextmanager
def _translated(broker: Broker) -> Iterator[None]:
    try:
        yield
    except KafkaException as error:
        raise EngineUnavailable(
            f"Kafka at {broker.servers} did not do it: {error}. Check that it is up and try again; "
            "what had landed is found then"
        ) from error
