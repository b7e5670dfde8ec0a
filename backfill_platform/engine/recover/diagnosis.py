"""Finds what of a run was left half done, and what has to be done about it; writes nothing.

What is asked first is what the rest follows from: the log's answer, then chunks, the run's state,
the runs that it replaced, the evidence. Only the first of these that needs something is told, and
whoever has done that asks again, until the run is well.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.day_notation import parse_days
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import IN_FLIGHT, ChunkStatus, RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.runs import PublicationFact, PublicationRecord, RunRecord
from backfill_platform.engine.carry_out.progress import due_state
from backfill_platform.engine.loading import read_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import WHOLE_RUN
from backfill_platform.engine.publish.untold import untold
from backfill_platform.engine.records import bundle
from backfill_platform.engine.recover.liveness import is_gone
from backfill_platform.engine.recover.remedies import (
    Advance,
    EndReplaced,
    FailRun,
    FinishRollback,
    FreeChunk,
    GiveUp,
    KeepPlan,
    KeepPublication,
    KeepVerdicts,
    MarkPublished,
    RecordLanding,
    Remedy,
    StandBack,
    TellUntold,
)
from backfill_platform.evidence.chain import EvidenceRecord
from backfill_platform.lakehouse.delta_tables import published_version

_S = RunState
_AFTER_PUBLICATION = frozenset({_S.PUBLISHED, _S.SUPERSEDED, _S.ROLLED_BACK})
_JUDGED_WELL = frozenset({ChunkStatus.VALIDATED, ChunkStatus.PUBLISHED})

_IS_GONE, _LEASE_OF = " is gone", "the lease of "


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    run: RunRecord
    remedies: tuple[Remedy, ...]
    left_alone: tuple[str, ...]  # may be at work, and is not disturbed

    @property
    def is_well(self) -> bool:
        return not self.remedies and not self.left_alone


def diagnose(platform: Platform, run_id: RunId) -> Diagnosis:
    case = _Case(platform, platform.ledger.run(run_id))
    settled = (_plan(case), _outcomes(case), _chunks(case), _state(case), _end(case))
    groups = (*settled, _evidence(case), _announcements(case))
    return Diagnosis(
        run=case.record,
        remedies=next((remedies for group in groups if (remedies := tuple(group))), ()),
        left_alone=tuple(case.left_alone()),
    )


class _Case:
    """What is known about one run; each thing is read when it is asked for first."""

    def __init__(self, platform: Platform, record: RunRecord) -> None:
        self.platform = platform
        self.record = record

    @property
    def state(self) -> RunState:
        return self.record.state

    @cached_property
    def undoes(self) -> RunId | None:
        is_rollback = self.record.kind is RunKind.ROLLBACK
        undone = self.manifest.undoes if is_rollback else None
        return undone.run_id if undone else None

    @property
    def is_rollback(self) -> bool:
        return self.undoes is not None

    @cached_property
    def publications(self) -> tuple[PublicationRecord, ...]:
        return self.platform.ledger.publications(self.record.run_id)

    @cached_property
    def landed(self) -> tuple[PublicationRecord, ...]:
        return tuple(one for one in self.publications if one.outcome is PublicationFact.LANDED)

    @cached_property
    def still_open(self) -> tuple[PublicationRecord, ...]:
        return tuple(one for one in self.publications if one.outcome is None)

    @cached_property
    def chunks(self) -> tuple[ChunkRecord, ...]:
        return self.platform.ledger.chunks(self.record.run_id)

    @cached_property
    def records(self) -> tuple[EvidenceRecord, ...]:
        return bundle(self.platform, self.record.run_id).records()

    @cached_property
    def at_work(self) -> str:
        """Until when somebody may be at work on its publication; empty when nobody is."""
        now = self.platform.clock()
        fences = [
            fence
            for fence in self.platform.ledger.open_fences(self.record.table, now)
            if fence.run_id == self.record.run_id
        ]
        if not fences:
            return ""
        newest = fences[-1]
        begun = [
            event.actor
            for event in self.platform.ledger.events(self.record.run_id)
            if event.to_state is _S.PUBLISHING and event.at >= newest.acquired_at
        ]
        if begun and is_gone(begun[-1]):
            return ""
        return f"{newest.expires_at:%Y-%m-%d %H:%M:%S} UTC"

    @cached_property
    def manifest(self) -> Manifest:
        return read_manifest(self.record)

    def asked(self, publication: PublicationRecord) -> PartitionSet:
        """What was asked to be published, also where only some of the days had to be changed."""
        _, _, named = publication.intent.publication_id.partition("/")
        return self.manifest.target.partitions if named == WHOLE_RUN else parse_days(named)

    def version_of(self, publication: PublicationRecord) -> int | None:
        path = self.platform.warehouse.table_path(publication.intent.table)
        return published_version(path, publication.intent.publication_id)

    def left_alone(self) -> Iterator[str]:
        is_unsettled = self.still_open or self.state is _S.PUBLISHING
        if is_unsettled and self.at_work:
            yield f"somebody may be publishing it; its fence holds until {self.at_work}"


def _plan(case: _Case) -> Iterator[Remedy]:
    is_kept = bundle(case.platform, case.record.run_id).manifest_path.exists()
    if not is_kept or not any(record.key == "plan" for record in case.records):
        yield KeepPlan()


def _outcomes(case: _Case) -> Iterator[Remedy]:
    """The target's log decides. One that was given up is looked for as long as the run goes on:
    whoever gave it up could be wrong."""
    for publication in case.publications:
        is_open = publication.outcome is None
        if not is_open and (publication in case.landed or case.state not in IN_FLIGHT):
            continue
        intent, version = publication.intent, case.version_of(publication)
        if version is not None and case.is_rollback:
            yield FinishRollback()
        elif version is not None:
            yield RecordLanding(
                publication_id=intent.publication_id, version=version, days=intent.days
            )
        elif is_open and not case.at_work:
            yield GiveUp(publication_id=intent.publication_id, days=intent.days)


def _chunks(case: _Case) -> Iterator[Remedy]:
    covered = [] if case.is_rollback else [case.asked(one) for one in case.landed]
    for chunk in case.chunks:
        if chunk.status is ChunkStatus.VALIDATED and any(one.covers(chunk.days) for one in covered):
            yield MarkPublished(days=chunk.days)
        elif chunk.status is ChunkStatus.CLAIMED and case.state in IN_FLIGHT:
            yield from _abandoned(case, chunk)


def was_abandoned(chunk: ChunkRecord) -> bool:
    """Whether it failed because its worker died, and not on what it computed."""
    causes = (f"{chunk.worker}{_IS_GONE}", f"{_LEASE_OF}{chunk.worker} ")
    return chunk.status is ChunkStatus.FAILED and (chunk.error or "").startswith(causes)


def _abandoned(case: _Case, chunk: ChunkRecord) -> Iterator[FreeChunk]:
    if is_gone(chunk.worker):
        cause = f"{chunk.worker}{_IS_GONE}"
    elif chunk.lease_expires_at <= case.platform.clock():
        until = f"{chunk.lease_expires_at:%Y-%m-%d %H:%M:%S} UTC"
        cause = f"{_LEASE_OF}{chunk.worker} ended at {until}"
    else:
        return
    yield FreeChunk(
        chunk_id=chunk.chunk_id,
        days=chunk.days,
        fencing_token=chunk.fencing_token,
        cause=cause,
    )


def _state(case: _Case) -> Iterator[Remedy]:
    if case.state not in IN_FLIGHT:
        return
    if case.is_rollback and case.landed:
        yield FinishRollback()
        return
    following = _due(case)
    if following is not None:
        yield Advance(following=following)
    elif case.state is _S.PUBLISHING and not case.still_open and not case.at_work:
        yield StandBack()
    elif case.state in {_S.STAGING, _S.STAGED}:
        yield from _failure(case)


def _due(case: _Case) -> RunState | None:
    if case.is_rollback:  # it has no chunks
        return None
    partitions = len(case.manifest.target.partitions)
    return due_state(case.state, case.chunks, partitions=partitions)


def _failure(case: _Case) -> Iterator[FailRun]:
    failed = [chunk for chunk in case.chunks if chunk.status is ChunkStatus.FAILED]
    is_idle = all(chunk.status is not ChunkStatus.CLAIMED for chunk in case.chunks)
    if failed and is_idle:
        yield FailRun(cause=f"{failed[0].days} failed ({failed[0].error}) and nobody is at work")


def _end(case: _Case) -> Iterator[Remedy]:
    if case.state is _S.PUBLISHED:
        run_id = case.record.run_id
        replaced = case.platform.ledger.replaced_runs(case.record.table, run_id)
        if run_id in replaced:
            yield EndReplaced(taken_by=replaced[run_id])


def _evidence(case: _Case) -> Iterator[Remedy]:
    if case.undoes is not None:
        yield from _evidence_of_rollback(case, case.undoes)
        return
    for chunk in case.chunks:
        if _lacks_verdicts(case, chunk):
            yield KeepVerdicts(days=chunk.days)
    kept = {record.key for record in case.records}
    for publication in case.landed:
        days, version = case.asked(publication), publication.version
        if f"publication:{days}" not in kept:
            yield KeepPublication(days=days, changed=publication.intent.days, version=version)
    yield from _evidence_of_no_change(case)


def _evidence_of_rollback(case: _Case, undone: RunId) -> Iterator[FinishRollback]:
    """In the evidence of both runs."""
    if case.state not in _AFTER_PUBLICATION:
        return
    of_undone = {record.key for record in bundle(case.platform, undone).records()}
    own = {record.key for record in case.records}
    if "rollback" not in own or f"rolled_back:{case.record.run_id}" not in of_undone:
        yield FinishRollback()


def _lacks_verdicts(case: _Case, chunk: ChunkRecord) -> bool:
    """A chunk that failed may have come to no verdict at all."""
    said = [
        bool(record.body["failed"])
        for record in case.records
        if record.kind == "verdicts" and record.body["days"] == str(chunk.days)
    ]
    if chunk.status in _JUDGED_WELL:
        return False not in said
    if chunk.status is ChunkStatus.FAILED and True not in said:
        return bool(case.platform.ledger.verdicts(chunk.run_id, chunk.days))
    return False


def _evidence_of_no_change(case: _Case) -> Iterator[KeepPublication]:
    """What equals what is accepted is published without a commit: a chunk, or a whole run."""
    told = [case.asked(publication) for publication in case.landed]
    told += [
        parse_days(record.body["days"]) for record in case.records if record.kind == "publication"
    ]
    untold = [
        chunk.days
        for chunk in case.chunks
        if chunk.status is ChunkStatus.PUBLISHED and not any(one.covers(chunk.days) for one in told)
    ]
    if untold and case.manifest.target.publish_scope.is_at_once:
        if case.state in _AFTER_PUBLICATION:
            yield KeepPublication(days=case.manifest.target.partitions, changed=(), version=None)
        return
    for days in untold:
        yield KeepPublication(days=PartitionSet.of_range(days), changed=(), version=None)


def _announcements(case: _Case) -> Iterator[TellUntold]:
    landed = untold(case.platform.ledger, case.manifest) if case.landed else ()
    if landed:
        yield TellUntold(publications=tuple(one.intent.publication_id for one in landed))
