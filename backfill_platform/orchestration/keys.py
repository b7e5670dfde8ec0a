"""What the platform's tables are called in Dagster."""

import dagster as dg

from backfill_platform.domain.tables import TableSpec


def table_key(name: str) -> dg.AssetKey:
    return dg.AssetKey(name.split("."))


def staging_key(spec: TableSpec) -> dg.AssetKey:
    return dg.AssetKey(["staging", spec.layer, spec.name])
