"""Makes a world on paper: catalog, landed files, Delta logs and ledger of so many tables and days.

Whatever a look reads is there. Rows are not: no file that a log names exists, and each landed day
holds one and the same small file under many names.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow as arrow
import pyarrow.parquet as parquet

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import manifest_json
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.plan.planning import draft_manifest
from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.ledger.migrate import migrate
from backfill_platform.settings import PROJECT, load_settings
from benchmarks.scale.catalog import CHAIN, chain_name, chain_tables, make_catalog
from benchmarks.scale.logs import PastRun, past_runs, write_log
from benchmarks.scale.past import NAMELESS, write_past
from benchmarks.scale.shapes import Place, Size
from benchmarks.world import intent

# Nobody is asked, so that what is planned can be carried out; everything else is as it is shipped.
_NOBODY_ASKED = "rules:\n  - {name: nobody, when: otherwise, ask: nobody}\n"
_LINKS = 60_000  # of one file; file systems allow some more
_LONG_AGO = 0


def make_world(home: Path, size: Size) -> Place:
    place = Place(home=home, size=size, today=utc_now().date())
    home.mkdir(parents=True)
    place.keep()
    (home / "governance.yaml").write_text(_policy_text(), encoding="utf-8")
    migrate(f"sqlite:///{place.ledger}")
    platform = open_place(place)
    _land(platform, place)
    for number, table in enumerate(platform.catalog.tables):
        contract = platform.catalog.contracts[table]
        write_log(platform.warehouse.table_path(table), contract, past_runs(place, number, table))
    write_past(place, _all_runs(platform.catalog, place), _manifests(platform, place))
    return place


def open_place(place: Place) -> Platform:
    """With a catalog that only its size describes."""
    home = place.home
    settings = load_settings(
        home=home,
        governance=home / "governance.yaml",
        ledger_url=f"sqlite:///{place.ledger}",
        warehouse=home / "warehouse",
        landing=home / "landing",
        evidence=home / "evidence",
    )
    catalog = make_catalog(place.size.tables, place.days.start)
    return replace(open_platform(settings), catalog=catalog, wait=lambda seconds: None)


def _policy_text() -> str:
    """The project's own, with other rules: repairs, limits and retention are its."""
    text = (PROJECT / "governance.yaml").read_text(encoding="utf-8")
    before, _, rest = text.partition("\nrules:\n")
    _, _, after = rest.partition("\nreviews:\n")
    return f"{before}\n{_NOBODY_ASKED}\nreviews:\n{after}"


def _land(platform: Platform, place: Place) -> None:
    """One name after the other for one file, whose folder tells the day."""
    files = (_landed_file(place, number) for number in range(10**6))
    original, left = next(files), _LINKS
    for source in platform.catalog.sources.values():
        for day in place.days:
            folder = platform.landing / source.path / f"{source.day_column}={day}"
            folder.mkdir(parents=True)
            os.link(original, folder / "part.parquet")
            left -= 1
            if not left:
                original, left = next(files), _LINKS


def _landed_file(place: Place, number: int) -> Path:
    path = place.home / f"landed-{number}.parquet"
    table = arrow.table({"id": [1], "amount": [1], "text": ["a word"]})
    parquet.write_table(table, path)
    os.utime(path, (_LONG_AGO, _LONG_AGO))
    return path


def _all_runs(catalog: Catalog, place: Place) -> Iterator[PastRun]:
    for number, table in enumerate(catalog.tables):
        yield from past_runs(place, number, table)


def _manifests(platform: Platform, place: Place) -> Mapping[str, str]:
    """As large as they are; drafted for one chain, and for the others told by its name."""
    end = place.days.end_exclusive
    month = DayRange(end - timedelta(days=min(30, place.size.days)), end)
    first = chain_name(0)
    drafted = {
        table: draft_manifest(platform, intent("launch:drafted", month, table))
        for table in chain_tables(0)[: place.size.tables]
    }
    named = {
        table: manifest_json(replace(manifest, run_id=RunId(NAMELESS)))
        for table, manifest in drafted.items()
    }
    chains = range(-(-place.size.tables // len(CHAIN)))
    return {
        other: named[table].replace(first, chain_name(number))
        for number in chains
        for table, other in zip(chain_tables(0), chain_tables(number), strict=True)
        if table in named
    }
