"""Looks for gaps in tables; writes nothing. No JVM."""

from collections.abc import Collection, Mapping

from backfill_platform.domain.gaps import Gap, NotedGap
from backfill_platform.engine.gaps.facts import gather_gap_facts
from backfill_platform.engine.platform import Platform
from backfill_platform.planner import gaps as planner

Noted = Mapping[str, NotedGap]  # by key: what earlier looks found, and still lasts


def find_gaps(platform: Platform, tables: Collection[str] = ()) -> tuple[Gap, ...]:
    """Of these tables, or of all."""
    asked = in_order(platform, tables)
    return find_gaps_beside(platform, asked, platform.ledger.lasting_gaps(asked))


def find_gaps_beside(platform: Platform, tables: tuple[str, ...], noted: Noted) -> tuple[Gap, ...]:
    return planner.find_gaps(gather_gap_facts(platform, tables, noted))


def in_order(platform: Platform, tables: Collection[str]) -> tuple[str, ...]:
    """Inputs first."""
    return tuple(name for name in platform.catalog.tables if not tables or name in tables)
