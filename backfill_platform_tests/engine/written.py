"""Writes days of `bronze.readings` without Spark: as somebody would, or as a run's publication."""

from datetime import date
from pathlib import Path

import pyarrow as arrow
from deltalake import write_deltalake

from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import Publication
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_tables import (
    create_staging_table,
    read_table_state,
    staged_files,
)
from backfill_platform.publisher.replace_partitions import publish
from backfill_platform_tests.readings import BRONZE


def write_day(path: Path, day: date, *, rows: int, run_id: str = "somebody") -> None:
    table = arrow.table(
        {
            "day": arrow.array([day] * rows, arrow.date32()),
            "meter": [f"m{number}" for number in range(rows)],
            "amount": arrow.array(range(rows), arrow.int64()),
            "produced_by_run_id": [run_id] * rows,
            "transform_version": ["load-readings/1.0.0"] * rows,
            "input_snapshot": ["1"] * rows,
            "processing_mode": ["BACKFILL"] * rows,
            "reference_data_version": arrow.array([None] * rows, arrow.string()),
        }
    )
    write_deltalake(path, table, mode="append")


def publish_day(platform: Platform, run_id: str, day: date, *, rows: int) -> None:
    """Through a staging table of the run's own, as Spark leaves one."""
    target = platform.warehouse.table_path(BRONZE)
    staging = platform.warehouse.staging_path(BRONZE, run_id)
    contract = platform.catalog.contracts[BRONZE]
    create_staging_table(staging, contract, partition_column="day")
    write_day(staging, day, rows=rows, run_id=run_id)
    days = PartitionSet.of_days([day])
    state = read_table_state(target, days)
    assert state is not None, "the target is created first"
    publication = Publication(
        publication_id=f"{run_id}/{day}",
        table=BRONZE,
        partition_column="day",
        days=(day,),
        files=staged_files(staging, days),
        base=state.fingerprints,
        commit_info={},
    )
    publish(target, staging, publication)
