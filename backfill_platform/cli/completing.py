"""What a shell completes after a verb: the newest runs and the tables, without waiting.

A shell asks at each press of a key, so the ledger answers; the declarations are loaded only for a
table that no run has changed yet. What cannot be read completes to nothing.
"""

from collections.abc import Iterable

from backfill_platform.domain.errors import BackfillError

NEWEST_RUNS = 50


def complete_runs(incomplete: str) -> list[tuple[str, str]]:
    return [
        (run.run_id, f"{run.state} · {run.reason}")
        for run in _newest_runs()
        if run.run_id.startswith(incomplete)
    ]


def complete_tables(incomplete: str) -> list[str]:
    known = _starting_with(incomplete, {run.table for run in _newest_runs()})
    return known or _starting_with(incomplete, _declared())


def _newest_runs():
    from backfill_platform.cli.opening import open_ledger

    try:
        return open_ledger().runs(limit=NEWEST_RUNS)
    except BackfillError:
        return ()


def _declared() -> Iterable[str]:
    from backfill_platform.engine.platform import load_catalog
    from backfill_platform.settings import load_settings

    try:
        catalog = load_catalog(load_settings().catalog)
    except BackfillError:
        return ()
    return (*catalog.tables, *catalog.sources)


def _starting_with(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))
