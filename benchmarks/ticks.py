"""How long a look for gaps and a round of unattended repair take over years of days.

Logs and ledger are generated: what a tick reads is there, and the files that the logs name are not,
because no tick opens them. Run as `python -m benchmarks.ticks`; it starts no Spark.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from statistics import median

import pyarrow as arrow
import pyarrow.parquet as parquet
import sqlalchemy as sa
from deltalake import DeltaTable
from deltalake.transaction import AddAction, CommitProperties, RemoveAction

from backfill_platform.domain.catalog import Catalog, build_catalog
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest, manifest_json
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.runs import PublicationFact
from backfill_platform.domain.tables import TableSpec
from backfill_platform.enforcement.catalog import CATALOG
from backfill_platform.engine.gaps.finding import find_gaps
from backfill_platform.engine.gaps.repairing import repair_gaps
from backfill_platform.engine.plan.planning import draft_manifest
from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.lakehouse.delta_tables import create_table
from backfill_platform.lakehouse.paths import RUNS
from backfill_platform.ledger.database import opened, writing
from backfill_platform.ledger.migrate import migrate
from backfill_platform.ledger.schema import accepted_output, publication, run
from backfill_platform.settings import load_settings
from backfill_platform.validator.contract import read_contract

DAYS, RUNS_EACH, TICKS = 3_650, 1_000, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    platform: Platform
    ledger_url: str
    days: DayRange


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="backfill-ticks-") as folder:
        world = make_world(Path(folder))
        print(f"{len(world.platform.catalog.tables)} tables of {DAYS:,} days")  # noqa: T201
        for runs in (0, RUNS_EACH // 10, RUNS_EACH):
            add_past_runs(world, runs)
            for name, look in LOOKS.items():
                walls, works = zip(*_timed(world.platform, look), strict=True)
                told = f"{median(walls):.0f} ms, {median(works):.0f} ms of them at work"
                print(f"{3 * runs:>6,} past runs more  {name:<8}{told}")  # noqa: T201


LOOKS: dict[str, Callable[[Platform], object]] = {"find": find_gaps, "repair": repair_gaps}


def _timed(platform: Platform, look: Callable[[Platform], object]) -> Iterator[tuple[float, float]]:
    """Milliseconds on the wall, and of the processor: the second is not others' business."""
    for _ in range(TICKS):
        wall, work = time.perf_counter(), time.process_time()
        look(platform)
        yield (time.perf_counter() - wall) * 1000, (time.process_time() - work) * 1000


def make_world(folder: Path) -> World:
    settings = load_settings(home=folder)
    migrate(settings.ledger_url)
    _let_history_be_written(settings.ledger_url)
    today = utc_now().date()
    days = DayRange(today - timedelta(days=DAYS), today)
    platform = replace(open_platform(settings), catalog=_catalog(days.start))
    _land(platform, days)
    world = World(platform=platform, ledger_url=settings.ledger_url, days=days)
    for spec in platform.catalog.tables.values():
        _fill(world, spec)
    return world


def _let_history_be_written(url: str) -> None:
    """The ledger lets nobody insert a run that has ended already."""
    with opened(url) as engine, writing(engine) as connection:
        found = connection.execute(
            sa.text("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        ).scalars()
        for name in [*found]:
            connection.execute(sa.text(f"DROP TRIGGER {name}"))


def _catalog(start: date) -> Catalog:
    """The reference domain, ten years older."""
    return build_catalog(
        replace(
            CATALOG,
            sources=tuple(replace(source, start=start) for source in CATALOG.sources),
            tables=tuple(replace(spec, start=start) for spec in CATALOG.tables),
        ),
        read_contract,
    )


def _land(platform: Platform, days: DayRange) -> None:
    for source in platform.catalog.sources.values():
        for day in days:
            folder = platform.landing / source.path / f"{source.day_column}={day}"
            folder.mkdir(parents=True)
            parquet.write_table(arrow.table({"event_id": ["a"]}), folder / "part.parquet")


def _fill(world: World, spec: TableSpec) -> None:
    """By runs of a few days, each a version of the table and all that the ledger keeps of it."""
    path = world.platform.warehouse.table_path(spec.full_name)
    contract = world.platform.catalog.contracts[spec.full_name]
    create_table(path, contract, partition_column=spec.partition_column)
    table, drafted = DeltaTable(str(path)), _draft(world, spec)
    with opened(world.ledger_url) as engine, writing(engine) as connection:
        for number, part in enumerate(world.days.split(-(-DAYS // RUNS_EACH))):
            run_id = f"bf-20160101-{spec.name}-1.0.0-{number:06d}"
            _commit(table, spec, run_id, part)
            connection.execute(run.insert(), [_run_row(spec, drafted, run_id, part)])
            _record(connection, spec, run_id, part, version=table.version())


def _draft(world: World, spec: TableSpec) -> Manifest:
    """As large as a manifest is; its own days do not matter here."""
    end = world.days.end_exclusive
    week = PartitionSet.of_range(DayRange(end - timedelta(days=7), end))
    intent = Intent(
        table=spec.full_name,
        days=week,
        kind=RunKind.BACKFILL,
        mode=ExecutionMode.BACKFILL,
        knowledge=Knowledge.AS_KNOWN_THEN,
        reason="benchmark",
        requested_by="benchmark",
        origin="benchmark",
        group_id="benchmark",
    )
    return draft_manifest(world.platform, intent)


def _commit(table: DeltaTable, spec: TableSpec, run_id: str, days: DayRange) -> None:
    adds: list[AddAction | RemoveAction] = [
        AddAction(
            path=f"{RUNS}/{run_id}/{spec.partition_column}={day}/part-0.parquet",
            size=1_000,
            partition_values={spec.partition_column: day.isoformat()},
            modification_time=0,
            data_change=True,
            stats=json.dumps({"numRecords": 1}),
        )
        for day in days
    ]
    table.create_write_transaction(
        adds,
        "append",
        table.schema(),
        [spec.partition_column],
        commit_properties=CommitProperties(custom_metadata={"userMetadata": "{}"}),
    )
    table.update_incremental()


def _record(
    connection: sa.Connection, spec: TableSpec, run_id: str, days: DayRange, *, version: int
) -> None:
    publication_id, now = f"{run_id}/{days}", utc_now()
    connection.execute(
        publication.insert().values(
            publication_id=publication_id,
            run_id=run_id,
            table_name=spec.full_name,
            days=[day.isoformat() for day in days],
            intent_at=now,
            intent={},
            fact_at=now,
            version=version,
            outcome=PublicationFact.LANDED.value,
        )
    )
    accepted = {
        "table_name": spec.full_name,
        "publication_id": publication_id,
        "run_id": run_id,
        "row_count": 1,
        "checksum": "1",
        "target_version": version,
        "accepted_at": now,
    }
    connection.execute(accepted_output.insert(), [{**accepted, "day": day} for day in days])


def add_past_runs(world: World, number: int) -> None:
    """Of each table: superseded, failed, expired; none of them matters any more."""
    states = (RunState.SUPERSEDED, RunState.FAILED, RunState.EXPIRED, RunState.PUBLISHED)
    with opened(world.ledger_url) as engine, writing(engine) as connection:
        for spec in world.platform.catalog.tables.values():
            drafted, known = _draft(world, spec), _known(connection, spec)
            rows = [
                {
                    **_run_row(
                        spec, drafted, f"bf-20150101-{spec.name}-1.0.0-{at:06d}", world.days
                    ),
                    "state": states[at % len(states)].value,
                }
                for at in range(known, known + number)
            ]
            if rows:
                connection.execute(run.insert(), rows)


def _known(connection: sa.Connection, spec: TableSpec) -> int:
    of_table = sa.select(sa.func.count()).where(run.c.table_name == spec.full_name)
    return connection.execute(of_table).scalar_one()


def _run_row(spec: TableSpec, drafted: Manifest, run_id: str, days: DayRange) -> dict[str, object]:
    long_ago = utc_now() - timedelta(days=400)
    return {
        "run_id": run_id,
        "group_id": run_id,
        "origin": run_id,
        "table_name": spec.full_name,
        "kind": RunKind.BACKFILL.value,
        "mode": ExecutionMode.BACKFILL.value,
        "transform_version": drafted.transform.version,
        "state": RunState.PUBLISHED.value,
        "manifest_json": manifest_json(drafted),
        "manifest_digest": drafted.digest,
        "actor": "benchmark",
        "reason": "benchmark",
        "planned_at": long_ago,
        "updated_at": long_ago,
        "days": PartitionSet.of_range(days),
    }


if __name__ == "__main__":
    main()
