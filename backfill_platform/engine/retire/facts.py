"""Gathers what the planner must know to retire files of a table: from its folder, its log and the
ledger, without a JVM. Of evidence nothing is read, because nothing of it is ever removed."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from pathlib import Path

from backfill_platform.domain.errors import BackfillError, EvidenceBroken, RunUnknown
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import IN_FLIGHT, NOT_BEGUN, ChunkStatus, RunState
from backfill_platform.domain.manifests import InputType, Manifest, is_dark
from backfill_platform.domain.modes import ExecutionMode
from backfill_platform.domain.retirements import Retention, TableLog
from backfill_platform.domain.runs import RunRecord
from backfill_platform.engine.loading import read_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.rollback.facts import ALL, known_rollbacks, returned_versions
from backfill_platform.lakehouse.unreferenced import (
    FoundFolder,
    data_elsewhere,
    files_at,
    run_folders,
    table_log,
)
from backfill_platform.planner.owed import History, shown_entry
from backfill_platform.planner.retirement_facts import RetirementFacts, RunFacts, RunFolder

_ONLY_LOOKED_AT = frozenset({ExecutionMode.DRY_RUN, ExecutionMode.RECONCILIATION})
_UNFINISHED = IN_FLIGHT | {RunState.FAILED}

# Whoever begins a plan looks at its term first, and needs less than that to say that it has begun.
_GRACE = timedelta(days=1)


def gather_retirement_facts(
    platform: Platform, table: str, retention: Retention
) -> RetirementFacts | None:
    """Nothing where there is no table."""
    path = platform.warehouse.table_path(table)
    log = table_log(path)
    if log is None:
        return None
    histories = platform.ledger.table_history(table)
    return RetirementFacts(
        now=platform.clock(),
        table=table,
        retention=retention,
        partition_column=platform.catalog.tables[table].partition_column,
        log=log,
        recorded_version=_recorded_version(histories),
        folders=tuple(_folder(platform, table, found) for found in run_folders(path)),
        elsewhere=data_elsewhere(path),
        needed=_needed(path, table, log, _unfinished(platform)),
        shown_until=_shown_until(platform, table, histories),
        publishing=_publishing(platform, table),
    )


def _unfinished(platform: Platform) -> tuple[RunRecord, ...]:
    """Of all tables: a run of another one may read this one. A plan whose term is over can never
    begin."""
    over = platform.clock() - _GRACE
    return tuple(
        record
        for record in platform.ledger.runs(states=_UNFINISHED, limit=ALL)
        if record.state not in NOT_BEGUN or record.valid_until is None or record.valid_until > over
    )


def _folder(platform: Platform, table: str, found: FoundFolder) -> RunFolder:
    return RunFolder(
        name=found.name,
        run=_run_facts(platform, table, RunId(found.name)),
        data=found.data,
        rest=found.rest,
        strange=found.strange,
    )


def _run_facts(platform: Platform, table: str, run_id: RunId) -> RunFacts | None:
    try:
        record = platform.ledger.run(run_id)
    except RunUnknown:
        return None
    if record.table != table:
        return None
    events = platform.ledger.events(run_id)
    own = [event.at for event in events if "retirement" not in event.details]
    leases = [
        chunk.lease_expires_at
        for chunk in platform.ledger.chunks(run_id)
        if chunk.status is ChunkStatus.CLAIMED and chunk.lease_expires_at > platform.clock()
    ]
    return RunFacts(
        run_id=run_id,
        state=record.state,
        is_candidate=record.mode in _ONLY_LOOKED_AT or is_dark(record.manifest_json),
        rests_when_judged=record.mode in _ONLY_LOOKED_AT,
        ended_at=own[-1],
        busy_until=max(leases, default=None),
    )


def _needed(
    path: Path, table: str, log: TableLog, unfinished: Iterable[RunRecord]
) -> dict[RunId, frozenset[str] | None]:
    known: dict[int, frozenset[str] | None] = {log.version: log.active}
    needed: dict[RunId, frozenset[str] | None] = {}
    for record in unfinished:
        versions = _named_versions(_manifest(record), table)
        for version in versions - known.keys():
            known[version] = files_at(path, version)
        readable = [files for version in versions if (files := known[version]) is not None]
        if versions:
            is_readable = len(readable) == len(versions)
            needed[record.run_id] = frozenset().union(*readable) if is_readable else None
    return needed


def _named_versions(manifest: Manifest, table: str) -> frozenset[int]:
    """Those of this table that it reads, that it returns to, and that it was reviewed against."""
    read = {
        int(pinned.snapshot)
        for pinned in manifest.inputs
        if pinned.type is InputType.TABLE and pinned.name == table
    }
    base = manifest.target.base_version if manifest.target.table == table else None
    return frozenset(read if base is None else read | {base})


def _manifest(record: RunRecord) -> Manifest:
    try:
        return read_manifest(record)
    except BackfillError as broken:
        raise EvidenceBroken(
            f"{record.run_id} is {record.state}, and what it needs is not known, because its "
            f"manifest cannot be read: {broken}. Nothing is retired until it is settled, or ended "
            f"with `backfill cancel {record.run_id}`"
        ) from broken


def _shown_until(
    platform: Platform, table: str, histories: Mapping[date, History]
) -> dict[tuple[RunId, date], datetime | None]:
    """Seen through rollbacks: what they returned are rows of the run that had written them."""
    returned = returned_versions(known_rollbacks(platform.ledger, table))
    shown: dict[tuple[RunId, date], datetime | None] = {}
    for day, history in histories.items():
        for entry in history:
            seen = shown_entry(history, returned, version=entry.target_version)
            if seen is not None:
                shown[seen.run_id, day] = entry.superseded_at
    return shown


def _recorded_version(histories: Mapping[date, History]) -> int:
    versions = (entry.target_version for history in histories.values() for entry in history)
    return max(versions, default=0)


def _publishing(platform: Platform, table: str) -> tuple[RunId, ...]:
    publishing = platform.ledger.runs(table, states={RunState.PUBLISHING}, limit=ALL)
    intended = (one.intent for one in platform.ledger.open_intents() if one.intent.table == table)
    found = (*(run.run_id for run in publishing), *(intent.run_id for intent in intended))
    return tuple(sorted(set(found)))
