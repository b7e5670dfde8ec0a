"""Keeps what a chunk's transform sets aside: before its rows are staged, and never published."""

from collections.abc import Mapping
from datetime import date

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.tables import FileSource, TableSpec
from backfill_platform.domain.transforms import Computed
from backfill_platform.engine.platform import Platform
from backfill_platform.executor.quarantine import RejectRules, rows_to_set_aside, write_rejects
from backfill_platform.governance.privacy import kept_of_rejects
from backfill_platform.validator.rejects import count_rejects


def set_rows_aside(
    platform: Platform,
    manifest: Manifest,
    days: DayRange,
    computed: Computed,
    protection: Protection,
) -> None:
    """A chunk that dies later is computed again, and then replaces these rows by the same ones."""
    if computed.rejects is None:
        return
    spec = platform.catalog.tables[manifest.target.table]
    rules = RejectRules(
        partition_column=spec.partition_column,
        kept_columns=kept_of_rejects(
            spec, platform.catalog.contracts[spec.full_name], _inputs(platform, spec)
        ),
        protection=protection,
    )
    write_rejects(
        rows_to_set_aside(computed.rejects, manifest, rules),
        manifest=manifest,
        days=days,
        partition_column=spec.partition_column,
        path=platform.warehouse.rejects_path(spec.full_name, manifest.run_id),
    )


def count_set_aside(
    platform: Platform, manifest: Manifest, days: DayRange
) -> Mapping[date, Mapping[str, int]]:
    """By day and reason; days of which no row was set aside are not in it."""
    table = manifest.target.table
    return count_rejects(
        platform.warehouse.rejects_path(table, manifest.run_id),
        platform.catalog.tables[table].partition_column,
        days,
    )


def _inputs(platform: Platform, spec: TableSpec) -> tuple[TableSpec | FileSource, ...]:
    catalog = platform.catalog
    return tuple(
        catalog.tables.get(used.name) or catalog.sources[used.name] for used in spec.inputs
    )
