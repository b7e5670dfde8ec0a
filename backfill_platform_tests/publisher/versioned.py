"""A small real table that keeps every version of its output, and the runs that stage for it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder, write_deltalake

from backfill_platform.domain.modes import VersionColumn
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import Publication, PublicationOutcome
from backfill_platform.lakehouse.delta_tables import (
    create_staging_table,
    create_table,
    staged_files,
)
from backfill_platform.lakehouse.former_files import former_files
from backfill_platform.lakehouse.latest import latest_dataset, latest_view_sql
from backfill_platform.publisher.replace_partitions import publish
from backfill_platform.publisher.return_partitions import return_partitions, returned_files
from backfill_platform_tests.delta_reader import latest_of_each, read_table
from backfill_platform_tests.publisher.tables import CONTRACT, RUN, Row, base_of, frame, rows_of

READ = ("business_date", "id", "total")


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionedLake:
    target: Path
    column: VersionColumn

    def staging(self, number: int) -> Path:
        return self.target / "runs" / RUN.format(number)

    def stage(self, number: int, rows: Iterable[Row], version: str) -> Path:
        create_staging_table(
            self.staging(number),
            CONTRACT,
            partition_column="business_date",
            version_column=self.column,
        )
        self.append(rows, version, path=self.staging(number))
        return self.staging(number)

    def append(self, rows: Iterable[Row], version: str, *, path: Path | None = None) -> None:
        """Into the target, as somebody who knows nothing of runs does, unless a path is named."""
        plain = frame(rows)
        value: Any = int(version) if self.column.type == "integer" else date.fromisoformat(version)
        kind = pa.int32() if self.column.type == "integer" else pa.date32()
        column = pa.array([value] * plain.num_rows, kind)
        write_deltalake(
            path or self.target, plain.append_column(self.column.value, column), mode="append"
        )

    def review(self, number: int, named: PartitionSet, version: str) -> Publication:
        return Publication(
            publication_id=f"{RUN.format(number)}/all",
            table="silver.totals_daily",
            partition_column="business_date",
            days=tuple(named),
            files=staged_files(self.staging(number), named),
            base=base_of(self.target, named),
            commit_info={"run_id": RUN.format(number), "manifest_digest": "d" * 64},
            version_column=self.column,
            output_version=version,
        )

    def review_return(
        self, versions: Mapping[date, int], version: str, name: str = "back"
    ) -> Publication:
        held = former_files(self.target, versions)
        assert held is not None
        named = PartitionSet.of_days(versions)
        return Publication(
            publication_id=name,
            table="silver.totals_daily",
            partition_column="business_date",
            days=tuple(named),
            files=returned_files(held, version),
            base=base_of(self.target, named),
            commit_info={"run_id": name},
            version_column=self.column,
            output_version=version,
        )

    def publish(self, number: int, named: PartitionSet, version: str) -> PublicationOutcome:
        staging = self.stage(number, rows_of(f"run{number}", named), version)
        return publish(self.target, staging, self.review(number, named, version))

    def take_back(
        self, versions: Mapping[date, int], version: str, name: str = "back"
    ) -> PublicationOutcome:
        publication = self.review_return(versions, version, name)
        return return_partitions(self.target, publication, versions)

    def version(self) -> int:
        return DeltaTable(self.target).version()

    def every(self) -> list[tuple[str, Row]]:
        """All rows with their version, as delta-rs and a reader that shares nothing agree."""
        columns = [self.column.value, *READ]
        rows = DeltaTable(self.target).to_pyarrow_table(columns=columns).to_pylist()
        found = sorted((str(row.pop(self.column.value)), tuple(row.values())) for row in rows)
        others = read_table(self.target)
        assert sorted((str(row[self.column.value]), _plain(row)) for row in others) == found
        return found

    def seen(self, version: int | None = None) -> list[Row]:
        """The latest view: Arrow's, SQL's and that of a reader that shares nothing with them."""
        rows = latest_dataset(self.target, version=version).to_table(columns=list(READ))
        found = sorted(_plain(row) for row in rows.to_pylist())
        others = latest_of_each(read_table(self.target, version), READ[0], self.column.value)
        assert sorted(_plain(row) for row in others) == found
        assert self._seen_by_sql(version) == found
        return found

    def _seen_by_sql(self, version: int | None) -> list[Row]:
        """By DataFusion, which knows nothing of the view but its text."""
        sql = latest_view_sql("totals", READ[0], self.column)
        table = DeltaTable(self.target, version=version)
        batches = QueryBuilder().register("totals", table).execute(sql)
        rows = pa.table(batches.read_all()).select(READ).to_pylist()
        return sorted(_plain(row) for row in rows)


def _plain(row: Mapping[str, Any]) -> Row:
    return (row["business_date"], row["id"], row["total"])


def make_versioned_lake(folder: Path, column: VersionColumn) -> VersionedLake:
    target = folder / "silver" / "totals_daily"
    create_table(target, CONTRACT, partition_column="business_date", version_column=column)
    return VersionedLake(target=target, column=column)
