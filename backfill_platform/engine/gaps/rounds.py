"""Turns gaps into outcomes: what was tried is looked up, the planner decides, runs are planned.

A repair whose plan is refused is reported with the reasons, and the round goes on: one table that
cannot be planned does not keep the others waiting.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time

from backfill_platform.domain.errors import PartitionsHeld, PlanRefused, Retryable, Terminal
from backfill_platform.domain.gaps import Gap, GapReport, report_digest
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import Manifest, planned_estimate
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.repairs import RepairRules, repair_group, repair_origin
from backfill_platform.domain.runs import RunRecord
from backfill_platform.engine.gaps.finding import Noted
from backfill_platform.engine.plan.planning import draft_manifest, plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.planner.repair_budget import Taken, keep_budget
from backfill_platform.planner.repair_decisions import (
    Decision,
    Postponed,
    Repair,
    RepairHistory,
    Reported,
)
from backfill_platform.planner.repairs import ONE_HOUR, decide_repairs


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRepair:
    gap: Gap
    days: PartitionSet
    attempt: int
    run_id: RunId  # of the run; in a look ahead the one that it would get
    rule: str  # of the policy
    roles: tuple[str, ...]  # who has to agree; nobody where there is none


Outcome = PlannedRepair | Postponed | Reported


class Round:
    """`is_real`: runs are planned, and not only drafted."""

    def __init__(self, platform: Platform, *, is_real: bool) -> None:
        self._platform = platform
        self._is_real = is_real
        self._now = platform.clock()
        self._today = Taken()
        self._refused: set[str] = set()

    def outcomes(self, gaps: Iterable[Gap], noted: Noted) -> tuple[Outcome, ...]:
        found, rules, catalog = (*gaps,), self._platform.policy.repairs, self._platform.catalog
        recent = self._recent()
        today = (run for run in recent if run.planned_at >= _midnight(self._now))
        self._today = sum((_taken_by(run) for run in today), start=Taken())
        decisions = decide_repairs(found, rules, catalog, self._history(found, noted, recent))
        return tuple(self._outcome(decision, rules) for decision in decisions)

    def reports(self, outcomes: Iterable[Outcome]) -> tuple[GapReport, ...]:
        return tuple(
            GapReport(
                key=one.gap.key,
                digest=report_digest(one.gap, one.why),
                why=one.why,
                was_refused=one.gap.key in self._refused,
            )
            for one in outcomes
            if isinstance(one, Reported)
        )

    def _recent(self) -> tuple[RunRecord, ...]:
        """Of the day, whose budget they share, and of the hour, which may have begun before it."""
        since = min(_midnight(self._now), self._now - ONE_HOUR)
        return self._platform.ledger.repairs_since(tuple(self._platform.catalog.tables), since)

    def _history(
        self, gaps: tuple[Gap, ...], noted: Noted, recent: tuple[RunRecord, ...]
    ) -> RepairHistory:
        ledger = self._platform.ledger
        return RepairHistory(
            now=self._now,
            tried=ledger.repairs_tried(gap.key for gap in gaps),
            noted=noted,
            in_flight=ledger.all_in_flight(tuple(self._platform.catalog.tables), self._now),
            planned_at=tuple(run.planned_at for run in recent),
        )

    def _outcome(self, decision: Decision, rules: RepairRules | None) -> Outcome:
        if not isinstance(decision, Repair):
            return decision
        assert rules is not None, "without rules nothing is repaired"
        return self._try(decision, rules)

    def _try(self, repair: Repair, rules: RepairRules) -> Outcome:
        intent = _intent(repair, rules)
        try:
            draft = draft_manifest(self._platform, intent)
            asked = _taken(draft)
            kept_back = keep_budget(repair, rules, today=self._today, asked=asked, now=self._now)
            if kept_back is not None:
                return kept_back
            manifest = plan_run(self._platform, intent) if self._is_real else draft
        except PartitionsHeld as held:
            return Postponed(gap=repair.gap, why=str(held), until=None)
        except Retryable as passing:
            return Postponed(gap=repair.gap, why=str(passing), until=None)
        except Terminal as refusal:
            self._refused.add(repair.gap.key)
            return Reported(gap=repair.gap, why=_sentence(refusal))
        self._today += asked
        return _planned(repair, manifest)


def _intent(repair: Repair, rules: RepairRules) -> Intent:
    gap = repair.gap
    return Intent(
        table=gap.table,
        days=repair.days,
        kind=RunKind.REPAIR,
        mode=ExecutionMode.BACKFILL,
        knowledge=Knowledge.UP_TO_SNAPSHOT,
        reason=f"{gap.kind}, found unattended: {gap.message} (attempt {repair.attempt})",
        requested_by=rules.requested_by,
        origin=repair_origin(gap.key, repair.attempt),
        group_id=repair_group(gap.key),
        replaces=repair.replaces,
    )


def _planned(repair: Repair, manifest: Manifest) -> PlannedRepair:
    return PlannedRepair(
        gap=repair.gap,
        days=repair.days,
        attempt=repair.attempt,
        run_id=manifest.run_id,
        rule=manifest.approval.rule,
        roles=manifest.approval.roles,
    )


def _taken(manifest: Manifest) -> Taken:
    estimate = manifest.estimate
    return Taken(rows=estimate.rows_read, cost_usd=estimate.cost_usd.expected)


def _taken_by(run: RunRecord) -> Taken:
    estimate = planned_estimate(run.manifest_json)
    return Taken(rows=estimate.rows_read, cost_usd=estimate.cost_usd.expected)


def _sentence(refusal: Terminal) -> str:
    """The reasons without the heading: they stand on a line of their own."""
    if isinstance(refusal, PlanRefused):
        return f"its plan is refused: {'; '.join(refusal.reasons)}"
    return f"it cannot be planned: {refusal}"


def _midnight(now: datetime) -> datetime:
    return datetime.combine(now.date(), time(), tzinfo=now.tzinfo)
