"""Every gate that is named gives one verdict on each day, and what it says follows one rule.

A severity decides what it means that a figure strays. Where a figure is missing nothing was judged,
and no verdict is a refusal.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import date

from backfill_platform.domain.measurements import PartitionMeasurement, SourceMeasurement
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.verdicts import STRAYED, Gate, GateSeverity, Outcome, Verdict
from backfill_platform.validator.gates import quality, reasonableness, reconciliation, technical
from backfill_platform.validator.gates.facts import Facts, Found, empty_day, unmeasured
from backfill_platform.validator.gates.rules import GateRules, LateRows
from backfill_platform.validator.gates.shape import schema_contract

FIGURES_KEPT = 50


def judge(
    days: DayRange,
    staged: Iterable[PartitionMeasurement],
    source: Iterable[SourceMeasurement],
    rules: GateRules,
    *,
    accepted: Mapping[date, PartitionMeasurement | None] | None = None,
    late_rows: Mapping[date, LateRows | None] | None = None,
) -> tuple[Verdict, ...]:
    """`accepted` names the days that something is accepted for; None where its figures are lost."""
    facts = Facts(
        days=days,
        staged=_with_empty_days(days, staged, rules),
        source={measured.day: measured for measured in source},
        accepted=accepted or {},
        late_rows=late_rows or {},
        rules=rules,
    )
    return tuple(_verdict(facts, gate, day) for day in days for gate in rules.gates)


def _with_empty_days(
    days: DayRange, staged: Iterable[PartitionMeasurement], rules: GateRules
) -> Mapping[date, PartitionMeasurement]:
    """A day that is not there counts zero, but only if it may be empty."""
    empty = {day: empty_day(day, rules) for day in days} if rules.may_be_empty else {}
    return empty | {measured.day: measured for measured in staged}


def _verdict(facts: Facts, gate: Gate, day: date) -> Verdict:
    found = _judged(facts, gate, day)
    figures = sorted(found.figures, key=lambda figure: not figure.strays)
    return Verdict(
        gate=gate,
        day=day,
        outcome=_outcome(found, facts.rules.severity(gate)),
        expected=found.expected,
        found=found.found,
        message=found.missing or found.strays,
        figures=tuple(figures[:FIGURES_KEPT]),
    )


def _outcome(found: Found, severity: GateSeverity) -> Outcome:
    """Invariant: what could not be computed has failed, whatever the severity of its gate
    (test_what_was_not_measured_fails_at_every_severity)."""
    if found.missing:
        return Outcome.FAILED
    return STRAYED[severity] if found.strays else Outcome.PASSED


def _judged(facts: Facts, gate: Gate, day: date) -> Found:
    if gate is Gate.PARTITIONS_COMPLETE:
        return technical.partitions_complete(facts, day)
    if day not in facts.staged:
        return unmeasured(["the day"])
    match gate:
        case Gate.RECONCILED:
            return reconciliation.reconciled(facts, day)
        case Gate.CHANGE_EXPECTED:
            return reasonableness.change_expected(facts, day)
        case Gate.LATE_DATA:
            return reasonableness.late_data(facts, day)
        case _:
            return _OF_ONE_DAY[gate](facts.staged[day], facts.rules)


# Gates that need nothing but what was measured of the day itself.
_OF_ONE_DAY: Mapping[Gate, Callable[[PartitionMeasurement, GateRules], Found]] = {
    Gate.ROWS_PRESENT: technical.rows_present,
    Gate.LINEAGE_COMPLETE: technical.lineage_complete,
    Gate.REJECTS_BOUNDED: technical.rejects_bounded,
    Gate.SCHEMA_CONTRACT: schema_contract,
    Gate.KEY_UNIQUE: quality.key_unique,
    Gate.VALUES_VALID: quality.values_valid,
    Gate.RELATIONS_KEPT: quality.relations_kept,
    Gate.INSTANTS_BOUNDED: quality.instants_bounded,
    Gate.PRIVACY_KEPT: quality.privacy_kept,
    Gate.GOLDEN_KEPT: reconciliation.golden_kept,
}
