"""What an owner has to know of each verdict of a run: what broke, since when, and what is blocked.

Read from the ledger and the catalog alone, so that it can be told again at any time and comes out
the same. However many days, it takes the same number of queries; what passed needs none of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from itertools import takewhile

from backfill_platform.domain.failing_rows import FailingRow
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.impacts import Impact
from backfill_platform.domain.judgements import Judgement
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.quality import USUAL_SEVERITY
from backfill_platform.domain.reviews import held_days, without_review
from backfill_platform.domain.verdicts import Gate, GateSeverity, Outcome, Verdict
from backfill_platform.engine.look.failing import read_failing
from backfill_platform.engine.look.figure_history import FigureHistory, read_figure_history
from backfill_platform.engine.platform import Platform
from backfill_platform.planner.impact import downstream_impact

_ROWS_SHOWN = 5


class Standing(StrEnum):
    """What has become of a day that was judged."""

    PUBLISHED = "published"
    REVIEWED = "reviewed by an owner, to be published"
    OPEN = "not published"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingSince:
    """The first of an unbroken series of runs of which the gate did not pass this day."""

    run_id: RunId
    judged_at: datetime
    runs: int  # in the series, this one included
    passed_before: RunId | None  # the run that it follows; nothing where nobody judged the day


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """What stays as it was because of a verdict; nothing where `days` is None."""

    days: PartitionSet | None = None  # of the table itself
    downstream: tuple[Impact, ...] = ()


NOTHING_BLOCKED = Blocked()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What is told of a verdict that did not pass, beyond the verdict itself."""

    since: FailingSince
    blocked: Blocked
    history: FigureHistory
    failing_rows: tuple[FailingRow, ...]  # a few of them
    commands: tuple[str, ...]  # what to do now, one after the other


@dataclass(frozen=True, slots=True, kw_only=True)
class GateStory:
    verdict: Verdict
    table: str
    owner: str
    run_id: RunId
    judged_at: datetime
    severity: GateSeverity  # as this run was planned
    override: str  # what the run says otherwise than its table, as a sentence; else empty
    standing: Standing
    trouble: Trouble | None  # nothing where it passed


_COMMANDS: Mapping[Outcome, tuple[str, ...]] = {
    Outcome.FAILED: ("backfill validate {run}", "mend the cause", "backfill retry {run}"),
    Outcome.HELD: ("backfill compare {run}", "backfill review {run}"),
    Outcome.WARNED: ("backfill validate {run}",),
}


def united(strays: Sequence[GateStory]) -> Trouble:
    """Of several days as of one: the worst comes first, and what it says to do is to be done."""
    troubles = [story.trouble for story in strays if story.trouble]
    return replace(
        troubles[0],
        since=min((one.since for one in troubles), key=lambda since: since.judged_at),
        blocked=_all_blocked([one.blocked for one in troubles]),
    )


def _all_blocked(blocked: Sequence[Blocked]) -> Blocked:
    days = [day for one in blocked for day in one.days or ()]
    below: dict[str, Impact] = {}
    for impact in (impact for one in blocked for impact in one.downstream):
        known = below.get(impact.table, impact)
        reached = PartitionSet.of_days([*known.days, *impact.days])
        below[impact.table] = replace(impact, days=reached)
    return Blocked(
        days=PartitionSet.of_days(days) if days else None, downstream=tuple(below.values())
    )


def read_gate_stories(
    platform: Platform, manifest: Manifest, days: Iterable[date]
) -> tuple[GateStory, ...]:
    """In the order of days, and of gates within a day."""
    asked = tuple(days)
    verdicts = platform.ledger.verdicts(manifest.run_id, asked)
    judged_at = _moments(platform, manifest, asked)
    standings = _standings(platform, manifest, asked)
    troubles = _read_troubles(platform, manifest, verdicts, standings)
    order = list(Gate)
    return tuple(
        GateStory(
            verdict=verdict,
            table=manifest.target.table,
            owner=platform.catalog.tables[manifest.target.table].owner,
            run_id=manifest.run_id,
            judged_at=judged_at[verdict.day],
            severity=severity_in(manifest, verdict.gate),
            override=_override(manifest, verdict.gate),
            standing=standings[verdict.day],
            trouble=troubles.get((verdict.day, verdict.gate)),
        )
        for verdict in sorted(verdicts, key=lambda one: (one.day, order.index(one.gate)))
    )


def severity_in(manifest: Manifest, gate: Gate) -> GateSeverity:
    """As the run was planned; a run from before severities were pinned had the usual ones."""
    return manifest.validation.severities.get(gate.value, USUAL_SEVERITY[gate])


def _override(manifest: Manifest, gate: Gate) -> str:
    about = f"gate {gate} is "
    return next((said for said in manifest.validation.overridden if said.startswith(about)), "")


def _moments(
    platform: Platform, manifest: Manifest, days: Sequence[date]
) -> Mapping[date, datetime]:
    """When the run judged each day; all gates of a day are judged at once."""
    judged = platform.ledger.judgements(manifest.target.table, days, tuple(Gate))
    return {one.day: one.judged_at for one in judged if one.run_id == manifest.run_id}


def _standings(
    platform: Platform, manifest: Manifest, days: Sequence[date]
) -> Mapping[date, Standing]:
    run_id = manifest.run_id
    published = platform.ledger.covered_days(run_id, {ChunkStatus.PUBLISHED})
    held = platform.ledger.held_chunks(run_id)
    open_days = held_days(without_review(held, platform.ledger.reviews(run_id)))
    reviewed = held_days(held) - open_days
    return {
        day: Standing.PUBLISHED
        if day in published
        else Standing.REVIEWED
        if day in reviewed
        else Standing.OPEN
        for day in days
    }


def _read_troubles(
    platform: Platform,
    manifest: Manifest,
    verdicts: Iterable[Verdict],
    standings: Mapping[date, Standing],
) -> Mapping[tuple[date, Gate], Trouble]:
    strays = tuple(verdict for verdict in verdicts if not verdict.has_passed)
    if not strays:
        return {}
    table = manifest.target.table
    days, gates = {one.day for one in strays}, {one.gate for one in strays}
    judged = platform.ledger.judgements(table, days, gates)
    blocked = _blocked_by_day(platform, manifest, strays)
    histories = read_figure_history(platform.ledger, manifest, strays)
    failing = _read_failing(platform, manifest, days)
    return {
        (one.day, one.gate): Trouble(
            since=failing_since(judged, manifest.run_id, one),
            blocked=NOTHING_BLOCKED if _is_free(one, standings[one.day]) else blocked[one.day],
            history=histories[one.day, one.gate],
            failing_rows=failing.get((one.day, one.gate), ())[:_ROWS_SHOWN],
            commands=_commands(one, standings[one.day], manifest.run_id),
        )
        for one in strays
    }


def _read_failing(
    platform: Platform, manifest: Manifest, days: Iterable[date]
) -> Mapping[tuple[date, Gate], tuple[FailingRow, ...]]:
    found: dict[tuple[date, Gate], tuple[FailingRow, ...]] = {}
    for row in read_failing(platform, manifest.run_id, PartitionSet.of_days(days)):
        found[row.day, row.gate] = (*found.get((row.day, row.gate), ()), row)
    return found


def failing_since(judged: Iterable[Judgement], run_id: RunId, verdict: Verdict) -> FailingSince:
    """`judged` has the newest first; what was judged after this run is another story."""
    series = [one for one in judged if (one.day, one.gate) == (verdict.day, verdict.gate)]
    own = next(place for place, one in enumerate(series) if one.run_id == run_id)
    since = series[own:]
    failing = [*takewhile(lambda one: one.outcome is not Outcome.PASSED, since)]
    before = since[len(failing) :]
    return FailingSince(
        run_id=failing[-1].run_id,
        judged_at=failing[-1].judged_at,
        runs=len(failing),
        passed_before=before[0].run_id if before else None,
    )


def _is_free(verdict: Verdict, standing: Standing) -> bool:
    if standing is not Standing.OPEN:
        return verdict.outcome is not Outcome.FAILED
    return verdict.outcome is Outcome.WARNED


def _blocked_by_day(
    platform: Platform, manifest: Manifest, strays: Iterable[Verdict]
) -> Mapping[date, Blocked]:
    """What is published together is blocked together: a chunk, or the whole run."""
    blocked: dict[date, Blocked] = {}
    together = _published_together(platform, manifest)
    for one in strays:
        if one.day not in blocked:
            days = next(days for days in together if one.day in days)
            blocked |= dict.fromkeys(days, _blocked(platform, manifest, days))
    return blocked


def _published_together(platform: Platform, manifest: Manifest) -> tuple[PartitionSet, ...]:
    if manifest.target.publish_scope.is_at_once:
        return (manifest.target.partitions,)
    return tuple(
        PartitionSet.of_range(chunk.days)
        for chunk in platform.ledger.chunks(manifest.run_id)
        if chunk.status is not ChunkStatus.REPLACED
    )


def _blocked(platform: Platform, manifest: Manifest, days: PartitionSet) -> Blocked:
    today, table = platform.clock().date(), manifest.target.table
    downstream = downstream_impact(platform.catalog, table, days, today)
    return Blocked(days=days, downstream=downstream)


def _commands(verdict: Verdict, standing: Standing, run_id: RunId) -> tuple[str, ...]:
    if standing is Standing.PUBLISHED:
        return (f"backfill validate {run_id}",)
    if standing is Standing.REVIEWED:
        return (f"backfill publish {run_id}",)
    return tuple(command.format(run=run_id) for command in _COMMANDS[verdict.outcome])
