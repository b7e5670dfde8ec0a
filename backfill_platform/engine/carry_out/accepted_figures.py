"""The figures of what is accepted now, against which staged figures are held.

Most stand in the ledger, from the time when the accepted rows were staged. Where they do not, or
were taken by another declaration, or somebody else wrote the rows, the accepted partitions are
measured again, all of a chunk in one Spark action.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import date

from pyspark.sql import SparkSession

from backfill_platform.domain.errors import EvidenceBroken
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.engine.carry_out.measuring import measure_plan, staged_rows
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.still_held import days_still_held
from backfill_platform.lakehouse.reading import in_columns_of, read_pinned
from backfill_platform.validator.gates.facts import empty_day
from backfill_platform.validator.gates.rules import GateRules
from backfill_platform.validator.measure import measure_staged


def accepted_figures(
    platform: Platform,
    spark: SparkSession | None,
    manifest: Manifest,
    days: DayRange,
    rules: GateRules,
) -> dict[date, PartitionMeasurement | None]:
    """Of each day for which anything is accepted; nothing where it can no longer be measured, or
    where nothing of the chunk is computed and the ledger does not know them."""
    accepted = platform.ledger.accepted(manifest.target.table, days)
    held = {day for day in days if day in accepted or day in manifest.target.base}
    known = remembered_figures(platform, manifest, accepted, rules)
    left = held - known.keys()
    if spark is None:
        return dict.fromkeys(sorted(left)) | known
    measured = _measured(platform, spark, manifest, left & manifest.target.base.keys(), rules)
    return dict.fromkeys(sorted(left)) | known | measured


def remembered_figures(
    platform: Platform,
    manifest: Manifest,
    accepted: Mapping[date, AcceptedPartition],
    rules: GateRules,
) -> dict[date, PartitionMeasurement | None]:
    """As the ledger knows them. Figures are only compared with those of the same declaration: a
    measure may have kept its name and changed what it counts."""
    shown = days_still_held(platform, manifest.target.table, accepted)
    found: dict[date, PartitionMeasurement | None] = {}
    for run_id in {run_id for run_id in shown.values() if run_id is not None}:
        if not _is_declared_alike(platform, manifest, run_id):
            continue
        own = [day for day, by in shown.items() if by == run_id]
        measured = {one.day: one for one in platform.ledger.measurements(run_id, own)}
        for day in own:
            one = measured.get(day, empty_day(day, rules))
            if (one.row_count, one.checksum) == (accepted[day].row_count, accepted[day].checksum):
                found[day] = one
    return found


def _is_declared_alike(platform: Platform, manifest: Manifest, run_id: RunId) -> bool:
    try:
        other = load_manifest(platform, run_id)
    except EvidenceBroken:
        return False
    own = manifest.validation.quality_digest
    return own is not None and other.validation.quality_digest == own


def _measured(
    platform: Platform,
    spark: SparkSession,
    manifest: Manifest,
    days: Collection[date],
    rules: GateRules,
) -> dict[date, PartitionMeasurement | None]:
    """As the run's base version holds them, which is what it is to replace."""
    found = {one.day: one for one in _measure(platform, spark, manifest, days)} if days else {}
    return {day: found.get(day, empty_day(day, rules)) for day in days}


def _measure(
    platform: Platform, spark: SparkSession, manifest: Manifest, days: Iterable[date]
) -> tuple[PartitionMeasurement, ...]:
    target = manifest.target
    assert target.base_version is not None, "what has no version holds nothing"
    wanted = sorted(days)
    span = DayRange.closed(wanted[0], wanted[-1])
    column = platform.catalog.tables[target.table].partition_column
    path = platform.warehouse.table_path(target.table)
    held = read_pinned(spark, path, target.base_version, column, span)
    rows = in_columns_of(held, staged_rows(platform, spark, manifest, span))
    plan = measure_plan(platform, manifest, Protection())
    return measure_staged(rows.where(rows[column].isin(wanted)), plan.without_rules)
