"""What a second backfill of the same days takes, where nothing or little has changed since.

The plain script knows nothing of a first time. What the platform leaves as it is accepted is proved
by computing all of it once more: that must not change any table.
"""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow as arrow
import pyarrow.parquet as parquet
from deltalake import DeltaTable

from backfill_platform.enforcement.catalog import TABLES
from backfill_platform.enforcement.landing.files import day_folder
from backfill_platform.orchestration import tags
from benchmarks.pipeline.contest import (
    OUR_ASSETS,
    WARMING,
    Contest,
    Place,
    Spark,
    launched,
    our_dagster,
)
from benchmarks.pipeline.taken import Taken

NOTHING = "platform again, nothing changed"
ONE_DAY = "platform again, one day landed anew"
ALL = "platform again, all computed"


def restated(contest: Contest, spark: Spark, words: Mapping[str, str]) -> Iterator[Taken]:
    landing, days = contest.folder / "landing-again", contest.shape.range
    shutil.copytree(contest.landing, landing)
    with our_dagster(contest.home("again", 0), landing, spark) as place:

        def again(who: str, **more: str) -> Taken:
            given = dict(words) | more
            return replace(launched(who, place, OUR_ASSETS, days, given), is_whole=False)

        again("platform, warm")
        for _ in range(WARMING - 1):
            again(ALL, **{tags.COMPUTE_ALL: "true"})
        for number in range(contest.rounds):
            yield again(NOTHING)
            land_anew(landing, days.last, number)
            yield again(ONE_DAY)
            before = _versions(place)
            yield again(ALL, **{tags.COMPUTE_ALL: "true"})
            if _versions(place) != before:
                raise RuntimeError("days that were left come out otherwise when they are computed")


def land_anew(landing: Path, day: date, number: int) -> None:
    """The same rows, but for what one of them brings along."""
    first = min(day_folder(landing, day).iterdir())
    rows = parquet.read_table(first)
    payloads = rows["payload"].to_pylist()
    payloads[0] = f'{{"landed": {number}}}'
    at, field = rows.column_names.index("payload"), rows.schema.field("payload")
    changed = rows.set_column(at, field, arrow.array(payloads, field.type))
    parquet.write_table(changed, first)


def _versions(place: Place) -> dict[str, int]:
    root = place.settings.warehouse
    return {
        spec.full_name: DeltaTable(str(root.joinpath(*spec.full_name.split(".")))).version()
        for spec in TABLES
    }
