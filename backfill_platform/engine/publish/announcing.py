"""Tells on a table's topic what a publication added and what it took back, once it has landed.

The table is the truth and the topic follows it: a broker that is away holds no publication up, and
what is untold is told by whoever recovers the run. What is told is read from the target's log at
the version in which the publication landed, so it is the same whoever tells it and whenever.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable

from backfill_platform.domain.announcements import (
    Broker,
    Delivery,
    Event,
)
from backfill_platform.domain.errors import EngineUnavailable, SettingsInvalid
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.runs import PublicationRecord
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.untold import untold
from backfill_platform.engine.records import keep_record


def tell_or_leave(platform: Platform, manifest: Manifest) -> None:
    """After a publication, which stands whether or not its topic can be reached: what could not be
    told is found and told by `backfill recover`."""
    with suppress(EngineUnavailable, SettingsInvalid):
        announce_run(platform, manifest.run_id)


def announce_run(platform: Platform, run_id: RunId) -> int:
    """How many events of the run were told now; none where its table has no topic.

    Invariant: what a run published is told once, whoever tells it and however often
    (test_what_was_published_is_told_once_however_often_one_tells).
    """
    manifest = load_manifest(platform, run_id)
    return sum(
        _announce(platform, manifest, record) for record in untold(platform.ledger, manifest)
    )


def _announce(platform: Platform, manifest: Manifest, record: PublicationRecord) -> int:
    spec, topic = platform.catalog.tables[manifest.target.table], manifest.target.topic
    if spec.announcement is None or topic is None:
        raise SettingsInvalid(
            f"{manifest.run_id} is to be told on the topic {topic!r}, and {spec.full_name} no "
            "longer declares how; declare its announcement again, then `backfill recover`"
        )
    events = tuple(_events(platform.warehouse.table_path(spec.full_name), spec, record))
    # Here, because few tables have a topic, and the others' publications need not wait for it.
    from backfill_platform.publisher.topic import deliver, end_offsets

    broker = _broker(platform)
    delivery = platform.ledger.intend_delivery(
        manifest.run_id,
        Delivery(
            delivery_id=record.intent.publication_id,
            topic=topic,
            events_count=len(events),
            starts=end_offsets(broker, topic),
        ),
        now=platform.clock(),
    ).delivery
    told = deliver(broker, delivery, events)
    _keep(platform, manifest, delivery)  # first, so that what counts as told has its evidence
    platform.ledger.record_told(delivery.delivery_id, told, now=platform.clock())
    return 0 if told.was_there else len(events)


def _broker(platform: Platform) -> Broker:
    if platform.broker is None:
        raise SettingsInvalid(
            "A table tells its publications on a topic, and nobody said where topics are: set "
            "BACKFILL_KAFKA_SERVERS; then `backfill recover` tells what is untold"
        )
    return platform.broker


def _events(path: Path, spec: TableSpec, record: PublicationRecord) -> Iterator[Event]:
    """Rows that came, and rows that went: a rollback takes back what had been told."""
    assert spec.announcement is not None, "only such publications are untold"
    assert record.version is not None, "it has landed"
    after = _rows(path, spec, record, record.version)
    before = _rows(path, spec, record, record.version - 1)
    for row in _only_in(after, before, spec):
        yield spec.announcement.told(row)
    for row in _only_in(before, after, spec):
        yield spec.announcement.taken_back(row)


def _rows(path: Path, spec: TableSpec, record: PublicationRecord, version: int) -> pa.Table:
    """Of the days that the publication was about."""
    dataset = DeltaTable(str(path), version=version).to_pyarrow_dataset()
    return dataset.to_table(filter=ds.field(spec.partition_column).isin(list(record.intent.days)))


def _only_in(rows: pa.Table, others: pa.Table, spec: TableSpec) -> Iterator[dict[str, object]]:
    keys = list(spec.keys)
    found = rows.join(others.select(keys), keys, join_type="left anti")
    for batch in found.sort_by([(key, "ascending") for key in keys]).to_batches():
        yield from batch.to_pylist()


def _keep(platform: Platform, manifest: Manifest, delivery: Delivery) -> None:
    body = {"topic": delivery.topic, "events": delivery.events_count}
    key = f"announcement:{delivery.delivery_id}"
    keep_record(platform, manifest.run_id, "announcement", key=key, body=body)
