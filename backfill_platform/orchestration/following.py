"""Makes Dagster's catalog say what is accepted now, where it says something else.

A rollback happens outside Dagster, and a process may die between a commit and what Dagster hears of
it; then the catalog names a run whose rows nobody sees any more. What has to be told is derived
from the ledger alone and from nobody's memory, so it may be told at any time later.

Invariant: following twice tells nothing new (test_following_twice_tells_nothing_new).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import dagster as dg

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.rollback.shown_runs import shown_runs
from backfill_platform.ledger.store import Ledger
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.keys import table_key
from backfill_platform.orchestration.materializations import (
    ACCEPTED_RUN,
    CHECKSUM,
    DATA_VERSION_TAG,
    DELTA_VERSION,
    ROW_COUNT,
    content_version,
    partition_metadata,
    run_metadata,
)

PAGE = 500  # partitions or records at once; Dagster hands out a thousand at most

_MATERIALIZED = dg.DagsterEventType.ASSET_MATERIALIZATION

Told = Mapping[date, dg.AssetMaterialization]


def follow_here(platform: Platform, tables: Mapping[str, Iterable[date]]) -> int:
    """In the instance of this process's environment; how many partitions had to be told."""
    with dg.DagsterInstance.get() as instance:
        return sum(len(follow(instance, platform, *of_table)) for of_table in tables.items())


def follow(
    instance: dg.DagsterInstance, platform: Platform, table: str, days: Iterable[date]
) -> tuple[date, ...]:
    """The partitions that had to be told; afterwards Dagster shows of each day what is accepted."""
    behind = find_behind(instance, platform.ledger, table, days)
    known_versions = _versions_of_like_content(instance, behind)
    for said in _materializations(platform, behind, known_versions):
        instance.report_runless_asset_event(said)
    return tuple(one.day for one in behind)


def find_behind(
    instance: dg.DagsterInstance, ledger: Ledger, table: str, days: Iterable[date]
) -> tuple[AcceptedPartition, ...]:
    """Accepted partitions of which Dagster says something else, or nothing."""
    accepted = ledger.accepted(table, days)
    told = _latest(instance, table_key(table), tuple(accepted))
    return tuple(
        one for day, one in accepted.items() if day not in told or not _is_said(told[day], one)
    )


def _latest(instance: dg.DagsterInstance, key: dg.AssetKey, days: Sequence[date]) -> Told:
    """Dagster answers for all partitions where none is named."""
    found: dict[date, dg.AssetMaterialization] = {}
    for page in _pages(days):
        ids = instance.get_latest_storage_id_by_partition(key, _MATERIALIZED, set(page))
        latest = dg.AssetRecordsFilter(asset_key=key, storage_ids=list(ids.values()))
        found |= dict(_records(instance, latest)) if ids else {}
    return found


def _is_said(told: dg.AssetMaterialization, accepted: AcceptedPartition) -> bool:
    return _says_content(told, accepted) and _value(told, ACCEPTED_RUN) == accepted.run_id


def _says_content(told: dg.AssetMaterialization, accepted: AcceptedPartition) -> bool:
    content = (accepted.row_count, accepted.checksum)
    return (_value(told, ROW_COUNT), _value(told, CHECKSUM)) == content


def _value(told: dg.AssetMaterialization, name: str) -> object:
    found = told.metadata.get(name)
    return None if found is None else found.value


def _versions_of_like_content(
    instance: dg.DagsterInstance, behind: Sequence[AcceptedPartition]
) -> dict[date, str]:
    """What the same rows of a partition were called before: what was computed from them is not
    outdated by their return (test_what_was_computed_from_the_returned_rows_is_up_to_date_again)."""
    wanted = {one.day: one for one in behind}
    versions: dict[date, str] = {}
    for page in _pages(tuple(wanted)):
        key = table_key(behind[0].table)
        earlier = dg.AssetRecordsFilter(asset_key=key, asset_partitions=page)
        for day, told in _records(instance, earlier):
            version = (told.tags or {}).get(DATA_VERSION_TAG)
            if version and _says_content(told, wanted[day]):
                versions.setdefault(day, version)
    return versions


def _records(
    instance: dg.DagsterInstance, chosen: dg.AssetRecordsFilter
) -> Iterator[tuple[date, dg.AssetMaterialization]]:
    """The newest first."""
    cursor, has_more = None, True
    while has_more:
        found = instance.fetch_materializations(chosen, limit=PAGE, cursor=cursor)
        cursor, has_more = found.cursor, found.has_more
        for record in found.records:
            if record.asset_materialization and record.partition_key:
                yield date.fromisoformat(record.partition_key), record.asset_materialization


def _pages(days: Sequence[date]) -> Iterator[list[str]]:
    for first in range(0, len(days), PAGE):
        yield [day.isoformat() for day in days[first : first + PAGE]]


def _materializations(
    platform: Platform, behind: Sequence[AcceptedPartition], known_versions: Mapping[date, str]
) -> Iterator[dg.AssetMaterialization]:
    manifests = {
        run_id: load_manifest(platform, run_id)
        for run_id in dict.fromkeys(one.run_id for one in behind)
    }
    table = behind[0].table if behind else ""
    shown = shown_runs(platform.ledger, table, (one.day for one in behind))
    for one in behind:
        manifest = manifests[one.run_id]
        version = known_versions.get(one.day) or content_version([one]).value
        yield dg.AssetMaterialization(
            asset_key=table_key(one.table),
            partition=one.day.isoformat(),
            description=_describe(one, manifest, shown.get(one.day)),
            metadata={
                **run_metadata(platform.evidence, manifest),
                **partition_metadata(one),
                **_of_rollback(manifest, shown.get(one.day)),
                DELTA_VERSION: one.target_version,
            },
            tags={
                DATA_VERSION_TAG: version,
                tags.KIND: manifest.kind.value,
                tags.MODE: manifest.mode.value,
            },
        )


def _of_rollback(manifest: Manifest, shown: RunId | None) -> dict[str, Any]:
    if manifest.undoes is None:
        return {}
    return {
        "rolled back by": manifest.run_id,
        "undone run": manifest.undoes.run_id,
        "rows of": shown or "no run",
    }


def _describe(accepted: AcceptedPartition, manifest: Manifest, shown: RunId | None) -> str:
    if manifest.undoes is None:
        return f"Published by {manifest.run_id}; told from the ledger afterwards."
    rows = f"these are the rows of {shown}" if shown else "no run had written these rows"
    left = rows if accepted.row_count else "no row is left"
    return f"{manifest.run_id} took back what {manifest.undoes.run_id} had published; {left}."
