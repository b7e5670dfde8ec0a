"""Lands generated days as Parquet files, one folder a day, each folder appearing as a whole.

A landed day is a fact: landing it again with the same parameters does nothing, and with others it
is refused unless the caller says that it may be overwritten.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from backfill_platform.domain.errors import Terminal
from backfill_platform.domain.partitions import DayRange
from backfill_platform.enforcement.landing.rows import LANDED_SCHEMA, generate_parts

SOURCE_FOLDER = "case_events"
ROWS_PER_FILE = 1_000_000
ROWS_PER_GROUP = 250_000
GENERATOR_VERSION = 1  # raise it when the same parameters give other rows

_PARAMETERS = b"landing_parameters"


class DayLandedDifferently(Terminal):
    """A day that stands with other parameters is not replaced by accident."""

    code = "day-landed-differently"


class Landing(StrEnum):
    LANDED = "LANDED"
    ALREADY_LANDED = "ALREADY_LANDED"


@dataclass(frozen=True, slots=True, kw_only=True)
class LandingParameters:
    """All that the content of a day depends on, besides the day."""

    seed: int
    events_per_day: int
    generator: int = GENERATOR_VERSION


OnDay = Callable[[date, Landing], None]


def day_folder(landing_root: Path, day: date) -> Path:
    return landing_root / SOURCE_FOLDER / f"arrival_date={day.isoformat()}"


def land_days(
    landing_root: Path,
    days: DayRange,
    seed: int,
    events_per_day: int,
    *,
    on_day: OnDay = lambda day, outcome: None,
    overwrite: bool = False,
) -> None:
    parameters = LandingParameters(seed=seed, events_per_day=events_per_day)
    for day in days:
        on_day(day, _land_day(landing_root, day, parameters, overwrite=overwrite))


def landed_parameters(landing_root: Path, day: date) -> LandingParameters | None:
    """With what a day was landed, or nothing if it is not there."""
    first = day_folder(landing_root, day) / _file_name(0)
    if not first.exists():
        return None
    metadata = pq.read_schema(first).metadata or {}
    return LandingParameters(**json.loads(metadata[_PARAMETERS]))


def _land_day(
    landing_root: Path, day: date, parameters: LandingParameters, *, overwrite: bool
) -> Landing:
    standing = landed_parameters(landing_root, day)
    if standing == parameters and not overwrite:
        return Landing.ALREADY_LANDED
    if standing is not None and not overwrite:
        raise DayLandedDifferently(
            f"{day} is landed with {standing}, which is not {parameters}; "
            "a landed day is a fact. Land it with overwrite, or into another folder"
        )
    folder = day_folder(landing_root, day)
    # Spark and delta-rs skip names that begin with a dot, so nobody reads a half-written day.
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    _write_files(unfinished, day, parameters)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)
    return Landing.LANDED


def _write_files(folder: Path, day: date, parameters: LandingParameters) -> None:
    schema = LANDED_SCHEMA.with_metadata({_PARAMETERS: json.dumps(asdict(parameters))})
    parts = generate_parts(parameters.seed, day, parameters.events_per_day)
    for number, table in enumerate(_in_files(parts)):
        pq.write_table(
            table.cast(schema),
            folder / _file_name(number),
            compression="zstd",
            row_group_size=ROWS_PER_GROUP,
        )


def _in_files(parts: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """At least one table, so that an empty day still leaves a file that says it is complete."""
    waiting = LANDED_SCHEMA.empty_table()
    for part in parts:
        waiting = pa.concat_tables([waiting, part])
        while waiting.num_rows > ROWS_PER_FILE:
            yield waiting.slice(0, ROWS_PER_FILE)
            waiting = waiting.slice(ROWS_PER_FILE)
    yield waiting


def _file_name(number: int) -> str:
    return f"part-{number:05d}.parquet"
