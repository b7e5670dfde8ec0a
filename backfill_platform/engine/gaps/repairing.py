"""One round of unattended repair: gaps are found and noted, and the policy's repairs are planned.

Twice is once: the attempt that is planned is what the next round finds in flight, and a report that
was told is not told again. Dying half-way leaves gaps that are noted and not yet repaired, and the
next round goes on with them. Carrying a repair out is the ordinary road's work.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from backfill_platform.domain.gaps import NO_CHANGES, Gap, NotedChanges
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.engine.gaps.finding import find_gaps_beside, in_order
from backfill_platform.engine.gaps.memory import GapMemory
from backfill_platform.engine.gaps.rounds import Outcome, PlannedRepair, Round
from backfill_platform.engine.gaps.unbegun import expire_unbegun
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.planner.repair_decisions import Postponed, Reported

# Not begun, or begun by some of its chunks: whoever requests it again requests nothing new.
_MAY_START = frozenset({RunState.PLANNED, RunState.APPROVED, RunState.STAGING})


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairRound:
    gaps: tuple[Gap, ...]
    planned: tuple[PlannedRepair, ...]
    postponed: tuple[Postponed, ...]
    reported: tuple[Reported, ...]
    changes: NotedChanges = NO_CHANGES
    told: frozenset[str] = frozenset()  # keys of what is reported for the first time, or anew
    left: tuple[str, ...] = ()  # tables that the next round looks at


@dataclass(frozen=True, slots=True, kw_only=True)
class StartableRepair:
    run_id: RunId
    publishes: bool  # nobody has to agree, so it is staged and published in one go


def foresee_repairs(platform: Platform, tables: Collection[str] = ()) -> RepairRound:
    """What a round would do now; nothing is written."""
    asked = in_order(platform, tables)
    noted = platform.ledger.lasting_gaps(asked)
    gaps = find_gaps_beside(platform, asked, noted).gaps
    going = Round(platform, is_real=False)
    return _sorted(gaps, going.outcomes(gaps, noted))


def repair_gaps(
    platform: Platform, tables: Collection[str] = (), memory: GapMemory | None = None
) -> RepairRound:
    """Of these tables, or of all; rate and budget are those of all together. Of what a look with a
    memory leaves to the next one nothing is noted, repaired or resolved
    (test_of_tables_that_are_left_to_the_next_tick_nothing_is_resolved)."""
    asked = in_order(platform, tables)
    expire_unbegun(platform)
    found = find_gaps_beside(platform, asked, platform.ledger.lasting_gaps(asked), memory)
    changes = platform.ledger.note_gaps(found.gaps, tables=found.tables, now=platform.clock())
    going = Round(platform, is_real=True)
    outcomes = going.outcomes(found.gaps, platform.ledger.lasting_gaps(found.tables))
    told = platform.ledger.report_gaps(going.reports(outcomes), now=platform.clock())
    round_ = _sorted(found.gaps, outcomes, changes, frozenset(told))
    return replace(round_, left=found.left)


def startable_repairs(platform: Platform) -> tuple[StartableRepair, ...]:
    """Unattended repairs that need no consent before they are computed; one of a table at most."""
    rules, now = platform.policy.repairs, platform.clock()
    if rules is None:
        return ()
    return tuple(
        _startable(platform, run.run_id)
        for runs in platform.ledger.all_in_flight(tuple(platform.catalog.tables), now).values()
        for run in runs
        if run.requested_by == rules.requested_by and run.state in _MAY_START
    )


def _startable(platform: Platform, run_id: RunId) -> StartableRepair:
    manifest = load_manifest(platform, run_id)
    asks_nobody = not manifest.approval.roles and not manifest.safety.requires_manual_publish
    return StartableRepair(run_id=run_id, publishes=asks_nobody)


def _sorted(
    gaps: tuple[Gap, ...],
    outcomes: tuple[Outcome, ...],
    changes: NotedChanges = NO_CHANGES,
    told: frozenset[str] = frozenset(),
) -> RepairRound:
    return RepairRound(
        gaps=gaps,
        planned=tuple(one for one in outcomes if isinstance(one, PlannedRepair)),
        postponed=tuple(one for one in outcomes if isinstance(one, Postponed)),
        reported=tuple(one for one in outcomes if isinstance(one, Reported)),
        changes=changes,
        told=told,
    )
