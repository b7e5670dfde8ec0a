"""Files in daily folders: listed and digested without Spark, read back exactly as listed.

A day's digest is over the names, sizes and contents of its files. The manifest keeps it, and a read
refuses when it no longer holds: a re-landed file is a new input, not the planned one.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as parquet
from pyarrow import ArrowInvalid
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import FileSource


@dataclass(frozen=True, slots=True, kw_only=True)
class FileListing:
    """By day that holds files."""

    digests: Mapping[date, str]
    rows: Mapping[date, int]  # as the files' footers say
    bytes: Mapping[date, int]

    @property
    def snapshot(self) -> str:
        lines = "\n".join(f"{day} {digest}" for day, digest in sorted(self.digests.items()))
        return hashlib.sha256(lines.encode()).hexdigest()

    @property
    def days(self) -> PartitionSet | None:
        return PartitionSet.of_days(self.digests) if self.digests else None


def list_files(landing: Path, source: FileSource, days: Iterable[date]) -> FileListing:
    """What stands in the source's daily folders now; days without files are left out."""
    named = {day: day_files(landing, source, day) for day in days}
    found = {day: files for day, files in named.items() if files}
    return FileListing(
        digests={day: _digest(files) for day, files in found.items()},
        rows={day: sum(map(count_rows, files)) for day, files in found.items()},
        bytes={day: sum(path.stat().st_size for path in files) for day, files in found.items()},
    )


def day_files(landing: Path, source: FileSource, day: date) -> tuple[Path, ...]:
    """A day's Parquet files; names that begin with `.` or `_` are still being written."""
    folder = landing / source.path / f"{source.day_column}={day}"
    return tuple(
        sorted(path for path in folder.glob("*.parquet") if not path.name.startswith((".", "_")))
    )


def landed_at(landing: Path, source: FileSource) -> dict[date, datetime]:
    """By day that holds files: when the newest of them was written. No file is opened."""
    root, prefix = landing / source.path, f"{source.day_column}="
    if not root.is_dir():
        return {}
    with os.scandir(root) as folders:
        named = [folder for folder in folders if folder.name.startswith(prefix)]
    found = ((_day_of(folder.name, prefix), _newest_file(folder)) for folder in named)
    return {day: written for day, written in found if day is not None and written is not None}


def landing_mark(landing: Path, source: FileSource) -> int:
    """Another one as soon as a file comes, goes or is written anew; good in this process alone."""
    root, prefix = landing / source.path, f"{source.day_column}="
    if not root.is_dir():
        return 0
    with os.scandir(root) as folders:
        named = [folder.path for folder in folders if folder.name.startswith(prefix)]
    return hash(frozenset(mark for folder in named for mark in _file_marks(folder)))


def read_files(
    spark: SparkSession, landing: Path, source: FileSource, schema: StructType, days: DayRange
) -> DataFrame:
    """The rows of these days with the folder's day as a column; Spark lists nothing itself."""
    columns = [field for field in schema.fields if field.name != source.day_column]
    paths = [str(path) for day in days for path in day_files(landing, source, day)]
    if not paths:
        return spark.createDataFrame([], schema)
    return (
        spark.read.option("basePath", str(landing / source.path))
        .schema(StructType([*columns, schema[source.day_column]]))
        .parquet(*paths)
        .where(F.col(source.day_column).between(days.start, days.end_exclusive - timedelta(days=1)))
        .select(*schema.names)
    )


def count_rows(path: Path) -> int:
    try:
        return parquet.read_metadata(path).num_rows
    except ArrowInvalid as damaged:
        raise PlanRefused(
            (f"{path} is no readable Parquet file ({damaged}); have it landed again",)
        ) from damaged


def _day_of(name: str, prefix: str) -> date | None:
    """What is named otherwise is no day's folder."""
    try:
        return date.fromisoformat(name.removeprefix(prefix))
    except ValueError:
        return None


def _newest_file(folder: os.DirEntry[str]) -> datetime | None:
    if not folder.is_dir():
        return None
    with os.scandir(folder.path) as files:
        times = [
            file.stat().st_mtime
            for file in files
            if file.name.endswith(".parquet") and not file.name.startswith((".", "_"))
        ]
    return datetime.fromtimestamp(max(times), tz=UTC) if times else None


def _file_marks(folder: str) -> Iterator[tuple[str, int, int]]:
    try:
        with os.scandir(folder) as files:
            for file in files:
                found = file.stat()
                yield file.path, found.st_mtime_ns, found.st_size
    except (FileNotFoundError, NotADirectoryError):
        return


def _digest(files: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{path.name} {path.stat().st_size} {content}\n".encode())
    return digest.hexdigest()
