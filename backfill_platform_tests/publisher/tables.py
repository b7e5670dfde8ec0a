"""Small real tables to publish into; delta-rs writes the staging, so no test waits for a JVM."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from backfill_platform.domain.contracts import LINEAGE_COLUMNS, Column, Contract
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import Publication
from backfill_platform.lakehouse.delta_tables import (
    create_staging_table,
    create_table,
    read_table_state,
    staged_files,
)
from backfill_platform.lakehouse.former_files import former_files
from backfill_platform_tests.delta_reader import read_table

FIRST = date(2025, 1, 1)
RUN = "bf-20260704-totals_daily-1.0.0-{:03d}"

CONTRACT = Contract(
    columns=(
        Column(name="id", type="string", is_nullable=False),
        Column(name="business_date", type="date", is_nullable=False),
        Column(name="total", type="long", is_nullable=True),
    ),
    checks=(),
)

COLUMNS = (*CONTRACT.columns, *LINEAGE_COLUMNS)

Row = tuple[date, str, int | None]


def days(first: int, count: int) -> PartitionSet:
    """`count` days, beginning `first` days after the first one."""
    return PartitionSet.of_days(FIRST + timedelta(days=first + n) for n in range(count))


def rows_of(run: str, named: Iterable[date], *, per_day: int = 2) -> list[Row]:
    return [(day, f"{run}/{day}/{n}", n) for day in named for n in range(per_day)]


def frame(rows: Iterable[Row], run: str = "someone") -> pa.Table:
    rows = list(rows)
    return pa.table(
        {
            "id": pa.array([row[1] for row in rows], pa.string()),
            "business_date": pa.array([row[0] for row in rows], pa.date32()),
            "total": pa.array([row[2] for row in rows], pa.int64()),
            "produced_by_run_id": [run] * len(rows),
            "transform_version": ["totals/1.0.0"] * len(rows),
            "input_snapshot": ["1"] * len(rows),
            "processing_mode": ["BACKFILL"] * len(rows),
            "reference_data_version": pa.array([None] * len(rows), pa.string()),
        }
    )


def read_rows(path: Path) -> list[Row]:
    """All rows, as delta-rs and a reader that shares nothing with it agree on them."""
    table = DeltaTable(path).to_pyarrow_table(columns=["business_date", "id", "total"])
    found = sorted(tuple(row.values()) for row in table.to_pylist())
    others = [(row["business_date"], row["id"], row["total"]) for row in read_table(path)]
    assert sorted(others) == found, "two readers disagree about one table"
    return found


def append(path: Path, rows: Iterable[Row]) -> None:
    """What a live writer, who knows nothing of runs, does."""
    write_deltalake(path, frame(rows), mode="append")


def base_of(target: Path, named: PartitionSet) -> Mapping[date, str]:
    state = read_table_state(target, named)
    assert state is not None
    return state.fingerprints


@dataclass(frozen=True, slots=True, kw_only=True)
class Lake:
    """One target table and the runs that stage for it."""

    target: Path

    def staging(self, number: int) -> Path:
        return self.target / "runs" / RUN.format(number)

    def stage(self, number: int, rows: Iterable[Row]) -> Path:
        create_staging_table(self.staging(number), CONTRACT, partition_column="business_date")
        write_deltalake(self.staging(number), frame(rows, RUN.format(number)), mode="append")
        return self.staging(number)

    def review(self, number: int, named: PartitionSet) -> Publication:
        """What a review leaves: the staged files, and what the target holds at this moment."""
        return Publication(
            publication_id=f"{RUN.format(number)}/all",
            table="silver.totals_daily",
            partition_column="business_date",
            days=tuple(named),
            files=staged_files(self.staging(number), named),
            base=base_of(self.target, named),
            commit_info={"run_id": RUN.format(number), "manifest_digest": "d" * 64},
        )

    def version(self) -> int:
        return DeltaTable(self.target).version()


def review_return(lake: Lake, versions: Mapping[date, int], name: str = "back") -> Publication:
    named = PartitionSet.of_days(versions)
    files = former_files(lake.target, versions)
    assert files is not None
    return Publication(
        publication_id=name,
        table="silver.totals_daily",
        partition_column="business_date",
        days=tuple(named),
        files=files,
        base=base_of(lake.target, named),
        commit_info={"run_id": name},
    )


def make_lake(folder: Path) -> Lake:
    target = folder / "silver" / "totals_daily"
    create_table(target, CONTRACT, partition_column="business_date")
    return Lake(target=target)
