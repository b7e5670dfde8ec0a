"""Opens what a verb looks at, and finds in it what the caller has named.

Only as much as is needed: the ledger alone for looking, the desk for deciding, everything for
planning. A name that is not there is answered with those that are like it.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

import typer

from backfill_platform.domain.identity import RunId

if TYPE_CHECKING:
    from backfill_platform.domain.runs import RunRecord
    from backfill_platform.domain.tables import TableSpec
    from backfill_platform.engine.platform import Platform
    from backfill_platform.ledger.store import Ledger

_NEWEST = 1000  # runs among which a mistyped name is looked for


def open_ledger() -> "Ledger":
    from backfill_platform.ledger.store import Ledger
    from backfill_platform.settings import load_settings

    return Ledger.open(load_settings().ledger_url)


def open_everything() -> "Platform":
    from backfill_platform.engine.platform import open_platform
    from backfill_platform.settings import load_settings

    return open_platform(load_settings())


def find_run(ledger: "Ledger", name: str) -> "RunRecord":
    from backfill_platform.domain.errors import RunUnknown

    try:
        return ledger.run(RunId(name))
    except RunUnknown:
        like = _like(name, [run.run_id for run in ledger.runs(limit=_NEWEST)])
        raise RunUnknown(
            f"The ledger holds no run {name!r}{like}. `backfill list` shows those it holds."
        ) from None


def find_declared(platform: "Platform", table: str) -> "TableSpec":
    refuse_unknown_name(table, platform.catalog.tables)
    return platform.catalog.tables[table]


def refuse_unknown_name(name: str, known: Iterable[str], what: str = "TABLE") -> None:
    names = tuple(known)
    if name not in names:
        like = _like(name, names) or f"; there are {', '.join(names) or 'none'}"
        raise typer.BadParameter(f"there is no {name!r}{like}", param_hint=what)


def _like(name: str, known: Iterable[str]) -> str:
    found = get_close_matches(name, known, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(found)}" if found else ""
