"""Restates what was computed from rows that a publication or a rollback has changed.

A day below is outdated where the rows that its run had read are no longer what is accepted: told
by the checksums of what the run's pinned version of the input held, so equal content wakes nobody.
One hop at a time: what a restatement then changes is followed in its turn.

Invariant: following twice plans nothing twice (test_following_twice_plans_once). A run that follows
is known by its origin, whatever has become of it: somebody who cancels it has said no.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from backfill_platform.domain.errors import BackfillError
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import InputType, Manifest
from backfill_platform.domain.measurements import Content, content_by_day
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.runs import PublicationFact, PublicationRecord, RunRecord
from backfill_platform.engine.loading import load_manifest, read_manifest
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.rollback.shown_runs import shown_runs
from backfill_platform.planner.impact import direct_impact
from backfill_platform.planner.owed import History, differs_since
from backfill_platform.planner.scope import input_days

ORIGIN = "follow:"
REQUESTED_BY = "follow-publications"

Histories = Mapping[date, History]  # of the days that changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What follows from one run for the tables that read its table."""

    planned: tuple[RunId, ...]  # now, or by an earlier look
    waits: tuple[str, ...]  # why it has to be looked at again

    @property
    def is_settled(self) -> bool:
        return not self.waits


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What a run has changed so far."""

    run: RunRecord
    publications: tuple[PublicationRecord, ...]  # that landed, the newest last
    days: PartitionSet  # those of them that consumers see from this run
    histories: Histories


def follow_run(platform: Platform, run_id: RunId) -> Followed:
    """After its publications have landed; a table that cannot be planned stops no other."""
    change = _read_change(platform, run_id)
    if change is None:
        return Followed(planned=(), waits=())
    planned: list[RunId] = []
    waits: list[str] = []
    today = platform.clock().date()
    impact = direct_impact(platform.catalog, change.run.table, change.days, today)
    for table, reached in impact.items():
        try:
            planned += _follow_into(platform, change, table, reached)
        except BackfillError as refused:
            waits.append(f"{table} after {run_id}: {refused}")
    return Followed(planned=tuple(planned), waits=tuple(waits))


def _read_change(platform: Platform, run_id: RunId) -> _Change | None:
    landed = sorted(
        (
            one
            for one in platform.ledger.publications(run_id)
            if one.outcome is PublicationFact.LANDED and one.intent.days
        ),
        key=_landed_at,
    )
    run, changed = platform.ledger.run(run_id), {day for one in landed for day in one.intent.days}
    histories = platform.ledger.accepted_histories(run.table, changed)
    days = [day for day, history in histories.items() if history[-1].run_id == run_id]
    if not days:  # whoever has replaced it is followed
        return None
    return _Change(
        run=run,
        publications=tuple(landed),
        days=PartitionSet.of_days(days),
        histories=histories,
    )


def _landed_at(publication: PublicationRecord) -> datetime:
    assert publication.fact_at is not None, "what has landed says when"
    return publication.fact_at


def _follow_into(
    platform: Platform, change: _Change, table: str, reached: PartitionSet
) -> tuple[RunId, ...]:
    known = _known(platform, change, table)
    if known is not None:
        return (known,)
    outdated = [*_outdated_days(platform, change, table, reached)]
    days = _uncovered(platform, change, table, outdated)
    if days is None:
        return ()
    return (plan_run(platform, _intent(change, table, days)).run_id,)


def _known(platform: Platform, change: _Change, table: str) -> RunId | None:
    """The run that followed after all of this had landed."""
    newest = _landed_at(change.publications[-1])
    followed = f"{ORIGIN}{change.run.run_id}/"
    for record in platform.ledger.runs(table, group=change.run.group_id, limit=100):
        if record.origin.startswith(followed) and record.planned_at >= newest:
            return record.run_id
    return None


def _outdated_days(
    platform: Platform, change: _Change, table: str, reached: PartitionSet
) -> Iterator[date]:
    """Of what consumers see, seen through rollbacks."""
    manifests: dict[RunId, Manifest] = {}
    for day, run_id in shown_runs(platform.ledger, table, reached).items():
        if run_id not in manifests:
            manifests[run_id] = load_manifest(platform, run_id)
        if _has_read_otherwise(manifests[run_id], change, day):
            yield day


def _has_read_otherwise(manifest: Manifest, change: _Change, day: date) -> bool:
    for pinned in manifest.inputs:
        if pinned.name == change.run.table and pinned.type is InputType.TABLE:
            version = int(pinned.snapshot)
            return any(
                one in change.days and differs_since(change.histories.get(one, ()), version)
                for one in input_days(DayRange.of_day(day), pinned.window)
            )
    return False


def _uncovered(
    platform: Platform, change: _Change, table: str, outdated: Sequence[date]
) -> PartitionSet | None:
    """Without what other runs read anew anyway or have read anew already, in units that are
    computed whole."""
    spec, left = platform.catalog.tables[table], set(outdated)
    for manifest, days in _others(platform, change, table) if left else ():
        left -= {day for day in left & days if not _has_read_otherwise(manifest, change, day)}
    whole = {day for one in left for day in DayRange.of_day(one).widen_to(spec.boundary)}
    return PartitionSet.of_days(whole) if whole else None


def _others(
    platform: Platform, change: _Change, table: str
) -> Iterator[tuple[Manifest, frozenset[date]]]:
    """Unfinished runs, and those of the same launch, with the days that they answer for."""
    for one in platform.ledger.runs_in_flight(table, platform.clock()):
        yield read_manifest(platform.ledger.run(one.run_id)), frozenset(one.days)
    group, published = change.run.group_id, {RunState.PUBLISHED}
    for record in platform.ledger.runs(table, group=group, states=published):
        manifest = read_manifest(record)
        yield manifest, _came_out_as_shown(platform, manifest)


def _came_out_as_shown(platform: Platform, manifest: Manifest) -> frozenset[date]:
    """What a run computes and finds to be what is accepted, the earlier run goes on showing."""
    days = manifest.target.partitions
    accepted = platform.ledger.accepted(manifest.target.table, days)
    found = content_by_day(platform.ledger.measurements(manifest.run_id, days.span), days)
    return frozenset(
        day for day, one in accepted.items() if found[day] == Content(one.row_count, one.checksum)
    )


def _intent(change: _Change, table: str, days: PartitionSet) -> Intent:
    """Under the name of the newest publication; what came before it is covered by the same run."""
    run, newest = change.run, change.publications[-1]
    manifest = read_manifest(run)
    return Intent(
        table=table,
        days=days,
        kind=RunKind.RESTATEMENT,
        mode=ExecutionMode.BACKFILL,
        knowledge=Knowledge.UP_TO_SNAPSHOT,
        reason=f"{run.run_id} changed {run.table} ({run.reason})",
        ticket=manifest.ticket,
        requested_by=REQUESTED_BY,
        origin=f"{ORIGIN}{newest.intent.publication_id}:{table}",
        group_id=run.group_id,
    )
