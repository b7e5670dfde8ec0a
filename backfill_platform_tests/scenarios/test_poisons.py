"""Spoiled data of every kind is caught by the gate that should, before publication and by name.

Each poison is staged once, on real Spark; its literal message stands in `docs/validation.md`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from backfill_platform.domain.chunks import ChunkCounts, ClaimedChunk
from backfill_platform.domain.errors import ApprovalMissing, GateFailed
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.verdicts import Gate, Outcome, Verdict
from backfill_platform.engine.carry_out.controlling import cancel_run
from backfill_platform.engine.carry_out.frames import chunk_frames
from backfill_platform.engine.carry_out.measuring import measure_chunk
from backfill_platform.engine.carry_out.progress import begin_staging
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.deletions import run_protection
from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.executor.protecting import protect_frames
from backfill_platform.ledger.migrate import migrate
from backfill_platform.settings import load_settings
from backfill_platform_tests.delta_reader import read_table
from backfill_platform_tests.scenarios.orders import (
    DAYS,
    GOLDEN_DAY,
    ORDERS,
    POISONED,
    Delivery,
    Order,
    land,
    land_good_days,
    ten_orders,
)

REFUSALS = {Outcome.FAILED: GateFailed, Outcome.HELD: ApprovalMissing}
NOBODY = Path(__file__).parent.parent / "policies" / "nobody.yaml"
DOCUMENTED = Path(__file__).parents[2] / "docs" / "validation.md"

Spoil = Callable[[tuple[Order, ...]], tuple[Order, ...]]


@dataclass(frozen=True, kw_only=True)
class Poison:
    """What is wrong, which gate has to say so, and its message up to what is to be done."""

    gate: Gate
    message: str
    spoil: Spoil | None = None  # of what lands for the day
    late: Spoil | None = None  # what lands besides it
    version: str = "1.0.0"
    smuggled: dict[str, Any] = field(default_factory=dict)  # past everything that staging does
    outcome: Outcome = Outcome.FAILED
    day: date = POISONED


def every(**changes: Any) -> Spoil:
    return lambda orders: tuple({**order, **changes} for order in orders)


def first(**changes: Any) -> Spoil:
    return lambda orders: ({**orders[0], **changes}, *orders[1:])


def in_tokyo(orders: tuple[Order, ...]) -> tuple[Order, ...]:
    nine_hours = timedelta(hours=9)
    return tuple({**order, "placed_at": order["placed_at"] + nine_hours} for order in orders)


POISONS = {
    "missing day": Poison(
        gate=Gate.PARTITIONS_COMPLETE,
        spoil=lambda _orders: (),
        message="the day is missing from staging",
    ),
    "almost empty": Poison(
        gate=Gate.ROWS_PRESENT,
        spoil=lambda orders: orders[:4],
        message="the day has 4 rows and needs at least 5",
    ),
    "rows of another run": Poison(
        gate=Gate.LINEAGE_COMPLETE,
        smuggled={"produced_by_run_id": "by hand"},
        message="10 rows without run, code or input that made them",
    ),
    "too many rejects": Poison(
        gate=Gate.REJECTS_BOUNDED,
        spoil=lambda orders: (
            *orders,
            *({**order, "order_id": f"{order['order_id']}r", "amount": -5} for order in orders[:2]),
        ),
        message="2 rows set aside (negative amount=2); 1 may be",
    ),
    "extra column": Poison(
        gate=Gate.SCHEMA_CONTRACT,
        spoil=every(loyalty="gold"),
        message="has column 'loyalty' (string), which landing.orders does not declare",
    ),
    "duplicate keys": Poison(
        gate=Gate.KEY_UNIQUE,
        spoil=lambda orders: (*orders[:-1], orders[1]),
        message="1 row repeating the key of another row",
    ),
    "nulls": Poison(
        gate=Gate.VALUES_VALID,
        spoil=first(paid_with=None),
        message="1 null in paid_with",
    ),
    "out of range": Poison(
        gate=Gate.VALUES_VALID,
        spoil=first(amount=1001),
        message="1 row failing amount_less_than_or_equal_to",
    ),
    "broken reference": Poison(
        gate=Gate.RELATIONS_KEPT,
        spoil=first(shop="west"),
        message="1 row whose shop refers to nothing",
    ),
    "time zone off by one": Poison(
        gate=Gate.INSTANTS_BOUNDED,
        spoil=in_tokyo,
        message="2 rows with placed_at outside the bounds of their day",
    ),
    "personal data": Poison(
        gate=Gate.PRIVACY_KEPT,
        smuggled={"phone": "+49 30 5550000"},
        message="rows that must not be shown: phone_unmasked=10",
    ),
    "a tenth of the rows lost": Poison(
        gate=Gate.RECONCILED,
        version="1.1.0",
        message="orders: the input says 10, the output 9",
    ),
    "another figure than was filed": Poison(
        gate=Gate.GOLDEN_KEPT,
        spoil=every(amount=110),
        day=GOLDEN_DAY,
        message="revenue of north is 550; 500 was agreed upon (the filed report of January)",
    ),
    "unexpected change": Poison(
        gate=Gate.CHANGE_EXPECTED,
        spoil=every(amount=20),
        outcome=Outcome.HELD,
        message="revenue of north fell by 80.0 % (from 500 to 100); up to 20 % is usual",
    ),
}
LATE = Poison(
    gate=Gate.LATE_DATA,
    late=lambda orders: ({**orders[0], "order_id": "late"},),
    outcome=Outcome.WARNED,
    message="1 row of input arrived after the day was accepted",
)


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Platform:
    settings = load_settings(
        home=tmp_path_factory.mktemp("poisons"),
        catalog="backfill_platform_tests.scenarios.orders:DECLARATIONS",
        governance=NOBODY,
    )
    migrate(settings.ledger_url)
    land_good_days(settings.landing)
    return open_platform(settings)


@pytest.fixture(scope="module")
def accepted(platform, spark):
    """What readers see before and after every poison."""
    manifest = open_run(platform, intended("first"))
    chunk = stage_chunk(platform, spark, manifest.run_id, DAYS)
    assert [verdict for verdict in chunk.verdicts if not verdict.has_passed] == []
    publish_chunk(platform, manifest.run_id, DAYS)
    return shown(platform)


@dataclass(frozen=True)
class Staged:
    poison: Poison
    manifest: Manifest
    verdicts: dict[tuple[Gate, date], Verdict]

    @property
    def verdict(self) -> Verdict:
        return self.verdicts[self.poison.gate, self.poison.day]


def test_late_data_is_told_and_does_not_stop_what_brings_it_in(platform, spark, accepted):
    with poisoned(platform, spark, LATE) as staged:
        strayed = [one for one in staged.verdicts.values() if not one.has_passed]
    assert strayed == [staged.verdict]
    assert staged.verdict.outcome is Outcome.WARNED
    assert LATE.message in staged.verdict.message


@pytest.fixture(params=POISONS.values(), ids=tuple(POISONS), scope="module")
def staged(request, platform, spark, accepted) -> Iterator[Staged]:
    with poisoned(platform, spark, request.param) as found:
        yield found


def test_the_gate_that_should_catches_the_poison_and_names_the_cause(staged):
    assert staged.verdict.outcome is staged.poison.outcome
    assert staged.poison.message in staged.verdict.message


def test_a_poisoned_run_is_not_published_and_readers_see_what_they_saw(staged, platform, accepted):
    with pytest.raises(REFUSALS[staged.poison.outcome], match=str(staged.poison.gate)):
        publish_chunk(platform, staged.manifest.run_id, DAYS)
    assert shown(platform) == accepted


@pytest.mark.parametrize("poison", [*POISONS.values(), LATE], ids=[*POISONS, "late data"])
def test_the_docs_tell_of_every_poison_with_its_gate_and_its_message(poison):
    rows = [line for line in DOCUMENTED.read_text().splitlines() if f"`{poison.gate}`" in line]
    assert any(poison.message in row for row in rows)


def test_every_gate_has_its_poison():
    assert {poison.gate for poison in (*POISONS.values(), LATE)} == set(Gate)


@contextmanager
def poisoned(platform: Platform, spark: SparkSession, poison: Poison) -> Iterator[Staged]:
    """One staging; afterwards the landed days are as they were, and the run holds nothing."""
    spoil(platform.landing, poison)
    manifest = open_run(platform, intended(poison.message, poison.version))
    if poison.smuggled:
        smuggle(platform, spark, manifest, poison)
    chunk = stage_chunk(platform, spark, manifest.run_id, DAYS)
    yield Staged(poison, manifest, {(one.gate, one.day): one for one in chunk.verdicts})
    cancel_run(
        platform.ledger,
        platform.evidence,
        manifest.run_id,
        actor="tests",
        reason="it was a poison",
        now=platform.clock(),
    )
    land_good_days(platform.landing)


def intended(origin: str, version: str = "1.0.0") -> Intent:
    return Intent(
        table=ORDERS,
        days=PartitionSet.of_range(DAYS),
        kind=RunKind.BACKFILL,
        mode=ExecutionMode.BACKFILL,
        knowledge=Knowledge.UP_TO_SNAPSHOT,
        reason="tests",
        requested_by="tests",
        origin=origin,
        group_id=origin,
        transform_version=version,
    )


def spoil(landing: Path, poison: Poison) -> None:
    orders = ten_orders(poison.day)
    if poison.spoil:
        land(landing, poison.day, Delivery(poison.spoil(orders)))
    if poison.late:
        land(landing, poison.day, Delivery(poison.late(orders), file="late"))


def smuggle(platform: Platform, spark: SparkSession, manifest: Manifest, poison: Poison) -> None:
    """Rows that stand in staging past everything that staging does: by hand, and then measured."""
    claim = platform.ledger.claim_chunk(
        manifest.run_id,
        DAYS,
        worker=platform.worker,
        lease_seconds=60,
        max_partitions_at_once=None,
        now=platform.clock(),
    )
    assert isinstance(claim, ClaimedChunk)
    begin_staging(platform, manifest)
    write_deltalake(
        platform.warehouse.staging_path(ORDERS, manifest.run_id),
        smuggled_rows(platform, manifest, poison),
        mode="append",
    )
    protection = run_protection(platform, manifest)
    frames = protect_frames(chunk_frames(platform, spark, manifest, DAYS), protection)
    platform.ledger.finish_chunk_staging(
        manifest.run_id,
        claim.chunk_id,
        claim.fencing_token,
        counts=ChunkCounts(output_count=30, checksum="smuggled"),
        measurements=measure_chunk(platform, spark, manifest, DAYS, frames, protection),
        now=platform.clock(),
    )


def smuggled_rows(platform: Platform, manifest: Manifest, poison: Poison) -> arrow.Table:
    """What is accepted, as this run's own, but for the poison on its day."""
    accepted = DeltaTable(platform.warehouse.table_path(ORDERS)).to_pyarrow_table()
    own = {"produced_by_run_id": manifest.run_id}
    rows = [
        {**row, **own, **(poison.smuggled if row["day"] == poison.day else {})}
        for row in accepted.to_pylist()
    ]
    return arrow.Table.from_pylist(rows, schema=accepted.schema)


def shown(platform: Platform) -> list[dict[str, Any]]:
    rows = read_table(platform.warehouse.table_path(ORDERS))
    return sorted(rows, key=lambda row: row["order_id"])
