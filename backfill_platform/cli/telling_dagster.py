"""Tells Dagster afterwards what is accepted now; whatever goes wrong with that fails nothing.

Dagster is imported here, and only where the home holds its storage: whoever has no Dagster, or is
refused before anything has happened, does not wait for it.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

from backfill_platform.cli.figures import show_count

if TYPE_CHECKING:
    from backfill_platform.engine.platform import Platform

    Tables = Mapping[str, Iterable[date]]
    Days = Mapping[str, Collection[date]]


class Catalog(StrEnum):
    NONE = "NONE"  # the home holds no storage of Dagster's, so there is nobody to tell
    IN_LINE = "IN_LINE"  # it shows what is accepted
    NOT_TOLD = "NOT_TOLD"  # it may show what was before


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    catalog: Catalog
    partitions: int = 0  # that had to be told
    problem: str = ""

    def __str__(self) -> str:
        return f"Dagster shows it of {show_count(self.partitions, 'partition')}."


def tell_dagster(platform: "Platform", tables: "Tables") -> Telling:
    def tell() -> int:
        from backfill_platform.orchestration.following import follow_here

        return follow_here(platform, tables)

    return _guarded(tell)


def tell_dagster_all(platform: "Platform", tables: "Days") -> Telling:
    """How partitions were judged, too, where it does not show that."""

    def tell() -> int:
        from backfill_platform.orchestration.check_following import follow_all_here

        return follow_all_here(platform, tables)

    return _guarded(tell)


def count_untold(platform: "Platform", tables: "Days") -> Telling:
    """How many partitions `tell_dagster_all` would tell."""

    def count() -> int:
        from backfill_platform.orchestration.check_following import count_behind_here

        return count_behind_here(platform, tables)

    return _guarded(count)


def warn_if_untold(telling: Telling, run_id: str = "") -> None:
    """One line beside the output, whatever form that has."""
    if telling.catalog is Catalog.NOT_TOLD:
        again = " ".join(["backfill recover", *([run_id] if run_id else []), "--confirm"])
        print(  # noqa: T201
            f"dagster-not-told: Dagster may still show what was before ({telling.problem}); to "
            f"tell it: {again}",
            file=sys.stderr,
        )


def _guarded(act: Callable[[], int]) -> Telling:
    from backfill_platform.settings import (
        dagster_environment,
        enter_environment,
        load_settings,
    )

    settings = load_settings()
    if not settings.dagster_storage.is_dir():
        return Telling(catalog=Catalog.NONE)
    enter_environment(dagster_environment(settings))
    try:
        return Telling(catalog=Catalog.IN_LINE, partitions=act())
    except Exception as failure:  # noqa: BLE001 — what was done stays done, whatever Dagster says
        first_line = str(failure).strip().partition("\n")[0]
        problem = f"{type(failure).__name__}: {first_line}"
        return Telling(catalog=Catalog.NOT_TOLD, problem=problem)
