"""Delta logs of tables that were published day by day for years; of files that do not exist.

Each past run is a version. Its files have the statistics that Spark writes, and lie in its own
folder. delta-rs writes a checkpoint before the daily runs of the last month, and the entries before
it are removed, as log retention removes them.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

from deltalake import DeltaTable

from backfill_platform.domain.contracts import LINEAGE_COLUMNS, Contract
from backfill_platform.domain.identity import build_run_id
from backfill_platform.domain.partitions import DayRange
from backfill_platform.lakehouse.delta_tables import create_table
from backfill_platform.lakehouse.paths import RUNS
from benchmarks.scale.catalog import CHAIN, DAY
from benchmarks.scale.shapes import Place

FILE_BYTES, FILE_ROWS = 1_000_000, 1_000
_ROUND = timedelta(minutes=40)  # after midnight, a day's bronze is there
_LATER = timedelta(minutes=10)  # what reads it follows
_LACKING_EACH = 10  # of so many tables one lacks a day
_LACKED_DAY = 5  # of the table's days


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    table: str
    run_id: str
    version: int  # of the target
    days: tuple[date, ...]  # that it published
    published_at: datetime
    is_live: bool

    @property
    def publication_id(self) -> str:
        return f"{self.run_id}/{self.days[0]}..{self.days[-1]}"


def past_runs(place: Place, number: int, table: str) -> Iterator[PastRun]:
    """Of the table with that number, the oldest first."""
    lacked = place.days.start + timedelta(days=_LACKED_DAY) if _lacks(number) else None
    for version, part in enumerate(place.parts(), start=1):
        yield PastRun(
            table=table,
            run_id=build_run_id(
                planned_on=part.end_exclusive, table=table, version="1.0.0", number=1
            ),
            version=version,
            days=tuple(day for day in part if day != lacked),
            published_at=_published_at(part, number),
            is_live=len(part) == 1,
        )


def write_log(path: Path, contract: Contract, runs: Iterable[PastRun]) -> None:
    create_table(path, contract, partition_column=DAY)
    log = path / "_delta_log"
    checkpointed = False
    for run in runs:
        if run.is_live and not checkpointed:
            _checkpoint(path, log)
            checkpointed = True
        entry = "\n".join(_entry(run, contract))
        (log / f"{run.version:020d}.json").write_text(entry, encoding="utf-8")


def _lacks(number: int) -> bool:
    return number % _LACKING_EACH == _LACKING_EACH - 1


def _published_at(part: DayRange, number: int) -> datetime:
    midnight = datetime.fromisoformat(f"{part.end_exclusive}T00:00:00+00:00")
    return midnight + _ROUND + min(number % len(CHAIN), 2) * _LATER


def _checkpoint(path: Path, log: Path) -> None:
    DeltaTable(str(path)).create_checkpoint()
    for entry in log.glob("[0-9]" * 20 + ".json"):
        entry.unlink()


def _entry(run: PastRun, contract: Contract) -> Iterator[str]:
    at = int(run.published_at.timestamp() * 1000)
    said = {"run_id": run.run_id, "publication_id": run.publication_id}
    info = {"timestamp": at, "operation": "WRITE", "userMetadata": json.dumps(said)}
    yield json.dumps({"commitInfo": info})
    yield json.dumps(
        {"txn": {"appId": run.publication_id, "version": run.version, "lastUpdated": at}}
    )
    statistics = json.dumps(_statistics(run, contract))
    for day in run.days:
        yield json.dumps(
            {
                "add": {
                    "path": f"{RUNS}/{run.run_id}/{DAY}={day}/part-00000-{run.version:08d}.parquet",
                    "partitionValues": {DAY: day.isoformat()},
                    "size": FILE_BYTES,
                    "modificationTime": at,
                    "dataChange": True,
                    "stats": statistics,
                }
            }
        )


def _statistics(run: PastRun, contract: Contract) -> dict[str, object]:
    names = [column.name for column in (*contract.columns, *LINEAGE_COLUMNS)]
    texts = {"text": "a word of some length", "produced_by_run_id": run.run_id}
    known = {"id": 1, "amount": 1, **texts}
    return {
        "numRecords": FILE_ROWS,
        "minValues": known,
        "maxValues": known,
        "nullCount": {name: 0 for name in names if name != DAY},
    }
