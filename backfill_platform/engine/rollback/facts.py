"""Gathers what the planner must know to undo a run, from ledger and target log, without a JVM."""

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path

from backfill_platform.domain.errors import RunUnknown
from backfill_platform.domain.identity import RunId, is_run_id
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.privacy import NOTHING_PRIVATE
from backfill_platform.domain.publications import DataFile
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.engine.deletions import pin_deletions
from backfill_platform.engine.loading import load_manifest, read_manifest
from backfill_platform.engine.plan.code_facts import config_hash
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.retire.traces import retired_files
from backfill_platform.engine.rollback.former_schema import gather_former_schema
from backfill_platform.lakehouse.delta_log import read_commit
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.lakehouse.former_files import former_state
from backfill_platform.lakehouse.paths import RUNS
from backfill_platform.lakehouse.retention import rollback_hours
from backfill_platform.ledger.store import Ledger
from backfill_platform.planner.facts import TargetFacts
from backfill_platform.planner.owed import History, Returned, owed_entry
from backfill_platform.planner.rollback import former_versions
from backfill_platform.planner.rollback_facts import FormerDay, RollbackFacts, RollbackRequest
from backfill_platform.publisher.return_partitions import returned_files

ALL = 1_000_000  # rollbacks of one table


def gather_rollback_facts(platform: Platform, request: RollbackRequest) -> RollbackFacts:
    record = platform.ledger.run(request.run_id)
    undone = read_manifest(record)
    table, now = undone.target.table, platform.clock()
    path = platform.warehouse.table_path(table)
    rollbacks = known_rollbacks(platform.ledger, table)
    returned = returned_versions(rollbacks)
    histories = _histories(platform, undone)
    owed = _owed(histories, undone, returned)
    before = _before(path, owed, undone.target.output_version)
    spec = platform.catalog.tables.get(table)
    return RollbackFacts(
        now=now,
        undone=undone,
        state=record.state,
        histories=histories,
        returned=returned,
        own_rollbacks=frozenset(
            one.run_id for one in rollbacks if one.undoes and one.undoes.run_id == undone.run_id
        ),
        target=_target_facts(path, undone.target.partitions),
        left=_left(path, owed),
        before=before,
        in_flight=platform.ledger.runs_in_flight(table, now),
        retired=retired_files(
            platform.ledger, table, (file for one in before.values() for file in one.missing)
        ),
        schema=gather_former_schema(path, undone, histories, before),
        deletions=pin_deletions(platform, spec) if spec else None,
        masks=tuple(spec.privacy.masks_in(spec.classification)) if spec else (),
        config_hash=config_hash(spec) if spec else "",
        owners=_owners(platform, before) if spec and spec.privacy != NOTHING_PRIVATE else {},
    )


def known_rollbacks(ledger: Ledger, table: str) -> tuple[Manifest, ...]:
    """The newest first, whatever became of them."""
    records = ledger.runs(table, kind=RunKind.ROLLBACK, limit=ALL)
    manifests = (read_manifest(record) for record in records)
    return tuple(manifest for manifest in manifests if manifest.undoes is not None)


def returned_versions(rollbacks: tuple[Manifest, ...]) -> Returned:
    return {one.run_id: former_versions(one) for one in rollbacks}


def _histories(platform: Platform, undone: Manifest) -> dict[date, History]:
    """Only of the days that the run has changed: what it left as it was is not its doing."""
    target = undone.target
    histories = platform.ledger.accepted_histories(target.table, target.partitions)
    return {
        day: history
        for day, history in histories.items()
        if any(entry.run_id == undone.run_id for entry in history)
    }


def _owed(
    histories: Mapping[date, History], undone: Manifest, returned: Returned
) -> dict[date, AcceptedPartition]:
    entries = {
        day: owed_entry(history, undone.run_id, returned) for day, history in histories.items()
    }
    return {day: entry for day, entry in entries.items() if entry is not None}


def _target_facts(path: Path, days: PartitionSet) -> TargetFacts:
    state = read_table_state(path, days)
    if state is None:
        return TargetFacts(version=None, fingerprints={}, rows={}, bytes={}, rollback_hours=None)
    held = state.restricted_to_held()
    return TargetFacts(
        version=held.version,
        fingerprints=held.fingerprints,
        rows=held.row_counts,
        bytes=held.byte_counts,
        rollback_hours=rollback_hours(state.configuration),
    )


def _left(path: Path, owed: Mapping[date, AcceptedPartition]) -> dict[date, str]:
    states = [former_state(path, version, days) for version, days in _by_version(owed).items()]
    return {day: digest for state in states if state for day, digest in state.fingerprints.items()}


def _before(
    path: Path, owed: Mapping[date, AcceptedPartition], output_version: str | None
) -> dict[date, FormerDay]:
    before: dict[date, FormerDay] = {}
    for version, days in _by_version(owed).items():
        state = former_state(path, version - 1, days)
        logged = _landed_at(path, version)
        for day in days:
            replaced_at = logged or owed[day].accepted_at
            held = state.files.get(day, ()) if state else None
            before[day] = _former_day(path, version - 1, held, output_version, replaced_at)
    return before


def _former_day(
    path: Path,
    version: int,
    held: tuple[DataFile, ...] | None,
    output_version: str | None,
    replaced_at: datetime,
) -> FormerDay:
    """Where every version of the output is kept, what was seen before may still be there."""
    files = held or ()
    returning = returned_files(files, output_version)
    return FormerDay(
        version=version,
        rows=None if held is None else sum(file.row_count for file in files),
        missing=tuple(file.path for file in returning if not (path / file.path).exists()),
        stays=output_version is not None and not returning,
        replaced_at=replaced_at,
        owners=frozenset(_owner(file.path) for file in files),
    )


def _owner(path: str) -> RunId | None:
    """The file itself says below whose folder it lies; a compaction belongs to nobody."""
    folder, _, below = path.partition("/")
    run_id = below.partition("/")[0]
    return RunId(run_id) if folder == RUNS and is_run_id(run_id) else None


def _owners(platform: Platform, before: Mapping[date, FormerDay]) -> dict[RunId, Manifest]:
    """Without those of whom the ledger knows nothing."""
    found: dict[RunId, Manifest] = {}
    for owner in {owner for former in before.values() for owner in former.owners if owner}:
        with suppress(RunUnknown):
            found[owner] = load_manifest(platform, owner)
    return found


def _by_version(owed: Mapping[date, AcceptedPartition]) -> dict[int, PartitionSet]:
    """A run that was published chunk by chunk landed in several versions."""
    days: defaultdict[int, list[date]] = defaultdict(list)
    for day, entry in owed.items():
        days[entry.target_version].append(day)
    return {version: PartitionSet.of_days(of_version) for version, of_version in days.items()}


def _landed_at(path: Path, version: int) -> datetime | None:
    """From then on Delta counts how long it keeps what was replaced."""
    commit = read_commit(path, version)
    return commit.committed_at if commit else None
