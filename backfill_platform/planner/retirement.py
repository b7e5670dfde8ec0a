"""Decides which files of a table may go and why, and what stays until when. Pure.

Invariant: nothing goes that the table's current version references, that a planned rollback or an
unfinished run needs, or that a run in flight has written
(test_nothing_that_is_referenced_or_needed_ever_goes). A file that was replaced stays for the
policy's days and for the table's rollback window, whichever is longer. Evidence and the ledger are
no files of a table, so they are not looked at.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import STOPPED, RunState
from backfill_platform.domain.retirements import FoundFile, RetiredPart, RetirementReason
from backfill_platform.planner.retirement_facts import RetirementFacts, RunFacts, RunFolder

_S = RunState
_WAS_PUBLISHED = frozenset({_S.PUBLISHED, _S.SUPERSEDED, _S.ROLLED_BACK})
_ENDED = _WAS_PUBLISHED | STOPPED
_AT_REST = frozenset({_S.VALIDATED, _S.AWAITING_PUBLISH})  # where a dry run stays for ever


@dataclass(frozen=True, slots=True, kw_only=True)
class StayingPart:
    """Files that nobody sees and that stay all the same."""

    run_id: str | None
    why: str
    files: int
    bytes: int
    until: datetime | None  # at the earliest, where time alone decides


@dataclass(frozen=True, slots=True, kw_only=True)
class RetirementPlan:
    table: str
    parts: tuple[RetiredPart, ...]
    ends: Mapping[RunId, RunState]  # unfinished runs whose time is over
    staying: tuple[StayingPart, ...]
    obstacle: str  # why nothing of this table may go now; empty when something may

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(file.path for part in self.parts for file in part.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Goes:
    file: FoundFile
    reason: RetirementReason
    possible_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stays:
    file: FoundFile
    why: str = ""  # nothing to tell where the table references it
    until: datetime | None = None


_Fate = _Goes | _Stays
Ends = Mapping[RunId, RunState]


def plan_retirement(facts: RetirementFacts) -> RetirementPlan:
    obstacle = _obstacle(facts)
    if obstacle:
        return RetirementPlan(table=facts.table, parts=(), ends={}, staying=(), obstacle=obstacle)
    runs = [folder.run for folder in facts.folders if folder.run is not None]
    ends = {run.run_id: run.state for run in runs if _is_over(facts, run)}
    judged: list[tuple[str | None, list[_Fate]]] = [
        (folder.name, [*_judge_folder(facts, folder, ends)]) for folder in facts.folders
    ]
    judged.append((None, [_judge_former(facts, file, None, ends) for file in facts.elsewhere]))
    return RetirementPlan(
        table=facts.table,
        parts=tuple(part for run_id, fates in judged for part in _parts(run_id, fates)),
        ends=ends,
        staying=tuple(part for run_id, fates in judged for part in _staying(run_id, fates)),
        obstacle="",
    )


def _obstacle(facts: RetirementFacts) -> str:
    if facts.table in facts.retention.kept_tables:
        return "governance.yaml keeps all of it (`retention.tables`, `keep: true`)"
    if facts.publishing:
        named = " and ".join(sorted(facts.publishing))
        return (
            f"{named} is being published; wait for it, or settle what a crash left with "
            "`backfill recover`, and call the same again"
        )
    if facts.log.version < facts.recorded_version:
        return (
            f"its log ends at version {facts.log.version}, and the ledger knows of version "
            f"{facts.recorded_version}: the log is not whole. Restore it from a copy first"
        )
    return ""


def _is_over(facts: RetirementFacts, run: RunFacts) -> bool:
    """It could be taken up again, and nobody has for so long; from now on nobody can."""
    is_idle = run.busy_until is None
    return _comes_to_an_end(run) and is_idle and _abandoned_from(facts, run) <= facts.now


def _comes_to_an_end(run: RunFacts) -> bool:
    return run.state is _S.FAILED or (run.rests_when_judged and run.state in _AT_REST)


def _judge_folder(facts: RetirementFacts, folder: RunFolder, ends: Ends) -> Iterator[_Fate]:
    run = folder.run
    why, until = _why_all_of_it_stays(facts, folder, ends)
    if run is None or why:
        for file in (*folder.data, *folder.rest):
            yield _Stays(file=file, why=why, until=until)
        return
    fates = [_judge_former(facts, file, run, ends) for file in folder.data]
    yield from fates
    yield from _judge_rest(facts, folder, run, fates)


def _why_all_of_it_stays(
    facts: RetirementFacts, folder: RunFolder, ends: Ends
) -> tuple[str, datetime | None]:
    run = folder.run
    if run is None:
        return "the ledger knows no such run of this table, so it is not ours to remove", None
    if run.busy_until is not None:
        return "a worker of it may still be writing", run.busy_until
    if run.state in _ENDED or run.run_id in ends:
        return "", None
    if _comes_to_an_end(run):
        return f"it is {run.state} and may still be taken up", _abandoned_from(facts, run)
    return f"it is {run.state}, so it has not ended (`backfill cancel` ends it)", None


def _judge_rest(
    facts: RetirementFacts, folder: RunFolder, run: RunFacts, fates: list[_Fate]
) -> Iterator[_Fate]:
    """The staging log goes with the last of the data, and so does what is kept beside it. Nothing
    reads them after publication, but whoever looks for where a file came from does."""
    going = [fate for fate in fates if isinstance(fate, _Goes)]
    if folder.strange or len(going) < len(fates):
        return
    for file in folder.rest:
        yield (
            _Goes(file=file, reason=going[0].reason)
            if going
            else _judge_never_seen(facts, file, run)
        )


def _judge_former(
    facts: RetirementFacts, file: FoundFile, run: RunFacts | None, ends: Ends
) -> _Fate:
    if file.path in facts.log.active:
        return _Stays(file=file)
    for needing, paths in facts.needed.items():
        if needing not in ends and paths is not None and file.path in paths:
            return _Stays(file=file, why=f"{needing} has not ended and needs it")
    was_seen, until = _seen_until(facts, file, run)
    if was_seen:
        return _judge_superseded(facts, file, until, ends)
    if run is None:
        return _Stays(file=file)  # somebody else's, and no log of ours speaks of it
    return _judge_never_seen(facts, file, run)


def _seen_until(
    facts: RetirementFacts, file: FoundFile, run: RunFacts | None
) -> tuple[bool, datetime | None]:
    """Whether readers ever saw it, and until when. The log decides as far as it reaches back; what
    it has forgotten, the ledger still knows by run and day."""
    removed_at = facts.log.removed_at.get(file.path)
    if removed_at is not None:
        return True, removed_at
    day = _day_of(file.path, facts.partition_column)
    if run is None or day is None or facts.log.is_whole:
        return False, None
    key = (run.run_id, day)
    return key in facts.shown_until, facts.shown_until.get(key)


def _judge_superseded(
    facts: RetirementFacts, file: FoundFile, seen_until: datetime | None, ends: Ends
) -> _Fate:
    blind = [run_id for run_id, paths in facts.needed.items() if paths is None]
    blind = [run_id for run_id in blind if run_id not in ends]
    if blind:
        why = f"{blind[0]} has not ended, and the version that it needs can no longer be read"
        return _Stays(file=file, why=why)
    if seen_until is None:
        return _Stays(file=file, why="readers still see rows of its run on that day")
    window = facts.log.rollback_window
    from_then = seen_until + max(window, timedelta(days=facts.retention.superseded_after_days))
    if from_then > facts.now:
        return _Stays(file=file, why="replaced or rolled back, and may return", until=from_then)
    return _Goes(file=file, reason=RetirementReason.SUPERSEDED, possible_until=seen_until + window)


def _judge_never_seen(facts: RetirementFacts, file: FoundFile, run: RunFacts) -> _Fate:
    reason, from_then = _why_never_seen(run), _abandoned_from(facts, run)
    if from_then > facts.now:
        return _Stays(file=file, why=reason.meaning, until=from_then)
    return _Goes(file=file, reason=reason)


def _why_never_seen(run: RunFacts) -> RetirementReason:
    if run.state in _WAS_PUBLISHED:
        return RetirementReason.UNPUBLISHED
    return RetirementReason.CANDIDATE if run.is_candidate else RetirementReason.ABANDONED


def _abandoned_from(facts: RetirementFacts, run: RunFacts) -> datetime:
    return run.ended_at + timedelta(days=facts.retention.abandoned_after_days)


def _day_of(path: str, partition_column: str) -> date | None:
    named = f"{partition_column}="
    for folder in path.split("/"):
        if folder.startswith(named):
            try:
                return date.fromisoformat(folder.removeprefix(named))
            except ValueError:
                return None
    return None


def _parts(run_id: str | None, fates: Iterable[_Fate]) -> Iterator[RetiredPart]:
    by_reason: defaultdict[RetirementReason, list[_Goes]] = defaultdict(list)
    for fate in fates:
        if isinstance(fate, _Goes):
            by_reason[fate.reason].append(fate)
    for reason, going in by_reason.items():
        untils = [one.possible_until for one in going if one.possible_until]
        yield RetiredPart(
            run_id=RunId(run_id) if run_id else None,
            reason=reason,
            files=tuple(sorted((one.file for one in going), key=lambda file: file.path)),
            possible_until=max(untils, default=None),
        )


def _staying(run_id: str | None, fates: Iterable[_Fate]) -> Iterator[StayingPart]:
    by_reason: defaultdict[str, list[_Stays]] = defaultdict(list)
    for fate in fates:
        if isinstance(fate, _Stays) and fate.why:
            by_reason[fate.why].append(fate)
    for why, staying in by_reason.items():
        untils = [one.until for one in staying if one.until]
        yield StayingPart(
            run_id=run_id,
            why=why,
            files=len(staying),
            bytes=sum(one.file.size_bytes for one in staying),
            until=max(untils, default=None),
        )
