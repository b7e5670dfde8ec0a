"""What a plan says, as a page's metadata: what it takes, what follows, who has to agree.

All of it is read from the manifest, and so never changes; where a run stands is told in `standing`.
"""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import dagster as dg

from backfill_platform.domain.estimates import Estimate
from backfill_platform.domain.findings import Severity
from backfill_platform.domain.limits import Limits
from backfill_platform.domain.manifests import Manifest
from backfill_platform.orchestration.check_words import show_days

Row = Mapping[str, str | int]

_IMPACTS_SHOWN = 20
_CENT = Decimal("0.01")


def plan_metadata(manifest: Manifest) -> dict[str, Any]:
    """The page sorts them by these names; what has no rows is left out."""
    tables = {
        "plan: estimate": _estimate(manifest.estimate),
        "plan: impact": _impacts(manifest),
        "plan: left as accepted": _left(manifest),
        "plan: limits": _limits(manifest.safety.limits),
        "plan: warnings": _warnings(manifest),
    }
    told = {name: [*rows] for name, rows in tables.items()}
    return {name: table_of(rows) for name, rows in told.items() if rows}


def table_of(rows: Iterable[Mapping[str, Any]]) -> dg.TableMetadataValue:
    return dg.MetadataValue.table([dg.TableRecord(dict(row)) for row in rows])


def show_dollars(amount: Decimal) -> str:
    """In cents, or in as much as shows that it is not nothing."""
    return f"${amount:,.2f}" if amount == 0 or amount >= _CENT else f"${amount:.4f}"


def _estimate(estimate: Estimate) -> Iterator[Row]:
    rows, seconds, cost = estimate.rows_out, estimate.seconds, estimate.cost_usd
    read = f"{estimate.rows_read:,}"
    yield _span("rows read", read, read, read)
    yield _span("rows written", *(f"{one:,}" for one in (rows.low, rows.expected, rows.high)))
    yield _span("seconds", *(f"{one:,}" for one in (seconds.low, seconds.expected, seconds.high)))
    yield _span("cost", *(show_dollars(one) for one in (cost.low, cost.expected, cost.high)))


def _span(what: str, low: str, expected: str, high: str) -> Row:
    return {"what": what, "low": low, "expected": expected, "high": high}


def _impacts(manifest: Manifest) -> Iterator[Row]:
    for impact in manifest.impacts[:_IMPACTS_SHOWN]:
        yield _impact(impact.table, show_days(impact.days), len(impact.days), impact.owner)
    left_over = manifest.impacts[_IMPACTS_SHOWN:]
    if left_over:
        partitions = sum(len(impact.days) for impact in left_over)
        yield _impact(f"and {len(left_over)} more tables", "", partitions, "")


def _impact(table: str, days: str, partitions: int, owner: str) -> Row:
    return {"table": table, "days": days, "partitions": partitions, "owner": owner}


def _left(manifest: Manifest) -> Iterator[Row]:
    """Not computed, because it would come out the same."""
    for one in manifest.unchanged:
        days = show_days(one.days)
        yield {"computed by": one.run_id, "days": days, "partitions": len(one.compared)}


def _limits(limits: Limits) -> Iterator[Row]:
    cost = limits.max_cost_usd
    at_most = {
        "partitions at once": limits.max_partitions_at_once,
        "rows read a minute": limits.max_rows_per_minute,
        "bytes read a minute": limits.max_bytes_per_minute,
        "commits an hour": limits.max_commits_per_hour,
        "rows read in all": limits.max_rows,
        "cost in all": None if cost is None else show_dollars(cost),
        "seconds between chunks, at least": limits.pause_seconds or None,
        "hours in which chunks begin": limits.off_peak and str(limits.off_peak),
    }
    for what, most in at_most.items():
        if most is not None:
            yield {"limit": what, "value": most if isinstance(most, str) else f"{most:,}"}


def _warnings(manifest: Manifest) -> Iterator[Row]:
    """What whoever agrees has to have read."""
    for found in manifest.findings:
        if found.severity is Severity.WARN:
            yield {"check": found.check.replace("_", " "), "finding": found.message}
