"""One broker for all tests of topics; each test has topics of its own."""

from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from backfill_platform.domain.announcements import Broker
from backfill_platform_tests.kafka.broker import running_broker


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with running_broker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


@pytest.fixture
def topic(broker: Broker, request: pytest.FixtureRequest) -> str:
    """A new topic of two partitions, named after the test."""
    name = request.node.name.translate(str.maketrans("[]", ".."))
    admin = AdminClient({"bootstrap.servers": broker.servers})  # an answer does not outlive it
    made = admin.create_topics([NewTopic(name, num_partitions=2, replication_factor=1)])
    made[name].result(timeout=30)
    return name
