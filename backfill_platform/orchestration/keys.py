"""What the platform's tables are called in Dagster."""

import dagster as dg

from backfill_platform.domain.tables import TableSpec


def table_key(name: str) -> dg.AssetKey:
    return dg.AssetKey(name.split("."))


def staging_key(spec: TableSpec) -> dg.AssetKey:
    return staging_key_of(spec.full_name)


def staging_key_of(table: str) -> dg.AssetKey:
    return dg.AssetKey(["staging", *table.split(".")])
