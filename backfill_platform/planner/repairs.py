"""Which gaps are repaired while nobody looks, which wait, and which are only reported. Pure.

Invariant: unattended repair stays below its cap of attempts, its rate and one run at work on a
table, whatever gaps there are (test_no_round_exceeds_what_the_policy_allows). The budget of a day
is kept in `planner.repair_budget`, once the run of a repair has been drafted.

A run that waits for people is not at work: it holds its own days and stands in no other's way.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, time, timedelta
from fnmatch import fnmatchcase

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.gaps import Gap, GapKind
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import IN_FLIGHT, RunState
from backfill_platform.domain.limits import DailyWindow
from backfill_platform.domain.partitions import ONE_DAY, Boundary, DayRange, PartitionSet
from backfill_platform.domain.repairs import RepairRules, RepairRun
from backfill_platform.domain.runs import RunInFlight
from backfill_platform.planner.impact import downstream_impact
from backfill_platform.planner.repair_decisions import (
    Decision,
    Postponed,
    Repair,
    RepairHistory,
    Reported,
)
from backfill_platform.planner.wording import count_of

ONE_HOUR = timedelta(hours=1)

# Somebody has looked at such a run, or is asked to.
_WAITS_FOR_PEOPLE = frozenset({RunState.AWAITING_APPROVAL, RunState.AWAITING_PUBLISH})
_STOPPED_BY_PEOPLE = frozenset({RunState.REJECTED, RunState.CANCELLED, RunState.ROLLED_BACK})


def decide_repairs(
    gaps: Iterable[Gap], rules: RepairRules | None, catalog: Catalog, history: RepairHistory
) -> tuple[Decision, ...]:
    """What only fills comes first, then inputs before what reads them, and older days first."""
    if rules is None:
        why = "the policy has no section `repairs`, so nothing is repaired unattended"
        return tuple(Reported(gap=gap, why=why) for gap in gaps)
    ordered = sorted(gaps, key=_order(catalog))
    turn = _Turn(rules, catalog, history)
    return tuple(turn.decide(gap) for gap in ordered)


def back_off(rules: RepairRules, attempts: int) -> timedelta:
    return timedelta(minutes=rules.back_off_minutes * 2 ** (attempts - 1))


class _Turn:
    """Goes through the gaps once, and remembers what it has given away."""

    def __init__(self, rules: RepairRules, catalog: Catalog, history: RepairHistory) -> None:
        self._rules = rules
        self._catalog = catalog
        self._history = history
        self._given: set[str] = set()
        self._reached: dict[str, list[tuple[str, PartitionSet]]] = {}  # downstream of these
        recent = [at for at in history.planned_at if at > history.now - ONE_HOUR]
        self._recent = [*sorted(recent)]
        for table in history.in_flight:
            for run in self._at_work(table):
                self._give(table, run.days)

    def decide(self, gap: Gap) -> Decision:
        settled = tuple(self._settled_units(gap))
        days = _cut(settled, self._rules.max_days_per_run) if settled else gap.days
        why = next(self._never(gap, days), None)
        if why is not None or days is None:
            return Reported(gap=gap, why=why or "the log does not say which days it touched")
        waits = next(self._not_now(gap, days, is_settled=bool(settled)), None)
        if waits is not None:
            return waits
        self._give(gap.table, days)
        self._recent.append(self._history.now)
        return Repair(
            gap=gap,
            days=days,
            attempt=max((run.attempt for run in self._all_tries(gap)), default=0) + 1,
            replaces=self._failed_before(gap),
        )

    def _never(self, gap: Gap, days: PartitionSet | None) -> Iterator[str]:
        yield from _unrepairable(gap)
        yield from _not_allowed(gap, self._rules)
        yield from self._stopped(gap, days)
        yield from self._refused(gap)

    def _stopped(self, gap: Gap, days: PartitionSet | None) -> Iterator[str]:
        tries = self._tries(gap, days)
        last = tries[-1] if tries else None
        if last is None or self._is_in_flight(last):
            return
        if last.state in _STOPPED_BY_PEOPLE:
            yield f"somebody ended its repair {last.run_id}, which is {last.state}"
        if len(tries) >= self._rules.attempts:
            yield (
                f"{count_of(len(tries), 'attempt')} did not mend it; the last one, {last.run_id}, "
                f"is {last.state}: `backfill status {last.run_id}`"
            )

    def _refused(self, gap: Gap) -> Iterator[str]:
        """Gathering all that a plan needs each minute, to be refused again, helps nobody."""
        noted = self._history.noted.get(gap.key)
        if noted is None or noted.refused_at is None or noted.digest != gap.digest:
            return
        wait = max(ONE_HOUR, back_off(self._rules, 1))
        if noted.refused_at + wait > self._history.now and noted.reported_why:
            yield noted.reported_why

    def _not_now(self, gap: Gap, days: PartitionSet, *, is_settled: bool) -> Iterator[Postponed]:
        """The ends of waits that time alone decides come last: of several, a reader wants the one
        that somebody may do something about."""
        yield from self._in_the_way(gap, days)
        yield from self._upstream(gap, days)
        if not is_settled:
            yield self._until_settled(gap)
        yield from self._patient(gap)
        yield from self._backing_off(gap, days)
        yield from self._quiet(gap)
        yield from self._rate(gap)

    def _in_the_way(self, gap: Gap, days: PartitionSet) -> Iterator[Postponed]:
        for run in self._history.in_flight.get(gap.table, ()):
            if _share_days(run.days, days):
                why = f"{run.run_id} holds days of it and is {run.state}"
                yield Postponed(gap=gap, why=why, until=None)
        for run in self._at_work(gap.table):
            why = f"{run.run_id} repairs another part of {gap.table}"
            yield Postponed(gap=gap, why=why, until=None)
        if gap.table in self._given:
            why = f"another part of {gap.table} is repaired first"
            yield Postponed(gap=gap, why=why, until=None)

    def _upstream(self, gap: Gap, days: PartitionSet) -> Iterator[Postponed]:
        for table, reached in self._reached.get(gap.table, ()):
            if _share_days(reached, days):
                why = f"{table}, which it is computed from, is repaired first"
                yield Postponed(gap=gap, why=why, until=None)

    def _until_settled(self, gap: Gap) -> Postponed:
        assert gap.days is not None, "a gap without days is never repaired"
        first = next(iter(_units(gap.days, self._boundary(gap))))
        why = "its own daily run may still come"
        return Postponed(gap=gap, why=why, until=self._settles_at(first))

    def _patient(self, gap: Gap) -> Iterator[Postponed]:
        noted, now = self._history.noted.get(gap.key), self._history.now
        first_seen = noted.first_seen_at if noted else now
        until = first_seen + timedelta(minutes=self._rules.patience_minutes)
        if until > now:
            yield Postponed(gap=gap, why="somebody may still see to it", until=until)

    def _backing_off(self, gap: Gap, days: PartitionSet) -> Iterator[Postponed]:
        """Whoever launched a run that failed gets as long as an attempt, to look at it first."""
        tries = self._tries(gap, days)
        if tries:
            ended, wait = tries[-1].updated_at, back_off(self._rules, len(tries))
            why = f"{tries[-1].run_id} did not mend it; it is tried again after a while"
        elif gap.since is not None:
            ended, wait = gap.since, back_off(self._rules, 1)
            why = "whoever launched the run may still take it up again"
        else:
            return
        if ended + wait > self._history.now:
            yield Postponed(gap=gap, why=why, until=ended + wait)

    def _quiet(self, gap: Gap) -> Iterator[Postponed]:
        quiet, now = self._rules.quiet_hours, self._history.now
        if quiet is not None and quiet.is_open(now):
            why = f"nothing is planned in the quiet hours ({quiet})"
            yield Postponed(gap=gap, why=why, until=_end_of(quiet, now))

    def _rate(self, gap: Gap) -> Iterator[Postponed]:
        allowed = self._rules.runs_per_hour
        if len(self._recent) >= allowed:
            why = f"{count_of(allowed, 'repair')} an hour are allowed"
            yield Postponed(gap=gap, why=why, until=self._recent[-allowed] + ONE_HOUR)

    def _at_work(self, table: str) -> list[RunInFlight]:
        return [
            run
            for run in self._history.in_flight.get(table, ())
            if run.requested_by == self._rules.requested_by and run.state not in _WAITS_FOR_PEOPLE
        ]

    def _all_tries(self, gap: Gap) -> tuple[RepairRun, ...]:
        return self._history.tried.get(gap.key, ())

    def _tries(self, gap: Gap, days: PartitionSet | None) -> tuple[RepairRun, ...]:
        """Of this gap as long as it has lasted, and of these days: a gap that comes back, and a
        part of one whose other part was mended, begin anew."""
        noted = self._history.noted.get(gap.key)
        if noted is None or days is None:
            return ()
        return tuple(
            run
            for run in self._all_tries(gap)
            if run.planned_at >= noted.first_seen_at
            and (run.days is None or _share_days(run.days, days))
        )

    def _failed_before(self, gap: Gap) -> RunId | None:
        tries = self._all_tries(gap)
        is_failed = bool(tries) and tries[-1].state is RunState.FAILED
        return tries[-1].run_id if is_failed else None

    def _is_in_flight(self, run: RepairRun) -> bool:
        return run.state in IN_FLIGHT and not run.has_expired(self._history.now)

    def _give(self, table: str, days: PartitionSet) -> None:
        self._given.add(table)
        for impact in downstream_impact(self._catalog, table, days, self._history.now.date()):
            self._reached.setdefault(impact.table, []).append((table, impact.days))

    def _settled_units(self, gap: Gap) -> Iterator[DayRange]:
        if gap.days is not None:
            for unit in _units(gap.days, self._boundary(gap)):
                if self._settles_at(unit) <= self._history.now:
                    yield unit

    def _settles_at(self, unit: DayRange) -> datetime:
        ended = datetime.combine(unit.end_exclusive, time(), tzinfo=UTC)
        return ended + timedelta(hours=self._rules.settle_hours)

    def _boundary(self, gap: Gap) -> Boundary:
        return self._catalog.tables[gap.table].boundary


def _order(catalog: Catalog) -> Callable[[Gap], tuple[bool, int, str]]:
    place = {name: at for at, name in enumerate(catalog.tables)}

    def order(gap: Gap) -> tuple[bool, int, str]:
        first = str(gap.days.span.start) if gap.days else ""
        return not gap.fills, place[gap.table], first

    return order


def _unrepairable(gap: Gap) -> Iterator[str]:
    if gap.kind is GapKind.INPUT_MISSING:
        yield "there is nothing to compute from; have it landed"
    if gap.kind is GapKind.RUN_ENDED and not gap.fills:
        run_id = gap.subject.removeprefix("run-")
        yield (
            "what that run would replace is somebody's decision: `backfill retry "
            f"{run_id}`, or `backfill cancel {run_id}`"
        )
    if gap.first_load:
        yield "what was never published is planned by hand: `backfill plan`"
    if gap.days is None:
        yield "the log does not say which days it touched"


def _not_allowed(gap: Gap, rules: RepairRules) -> Iterator[str]:
    if gap.kind not in rules.kinds:
        yield f"the policy lets no {gap.kind} be repaired unattended"
    if not any(fnmatchcase(gap.table, pattern) for pattern in rules.tables):
        yield f"the policy lets nothing of {gap.table} be repaired unattended"


def _units(days: PartitionSet, boundary: Boundary) -> tuple[DayRange, ...]:
    """Whole weeks or months, where the table is not cut within them."""
    whole = PartitionSet.of_ranges(own.widen_to(boundary) for own in days.ranges)
    return whole.split(1, boundary)


def _cut(units: tuple[DayRange, ...], most_days: int) -> PartitionSet:
    """The oldest ones, as many as are allowed; one at least, because it cannot be cut."""
    chosen, count = [units[0]], len(units[0])
    for unit in units[1:]:
        count += len(unit)
        if count > most_days:
            break
        chosen.append(unit)
    return PartitionSet.of_ranges(chosen)


def _share_days(one: PartitionSet, other: PartitionSet) -> bool:
    return any(own.overlaps(others) for own in one.ranges for others in other.ranges)


def _end_of(window: DailyWindow, now: datetime) -> datetime:
    end = datetime.combine(now.date(), time.fromisoformat(window.end), tzinfo=now.tzinfo)
    return end if end > now else end + ONE_DAY
