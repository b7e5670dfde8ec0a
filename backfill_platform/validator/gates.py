"""Measurements become verdicts: one per gate and partition. Pure; no Spark, no clock, no store.

A gate that has nothing to judge fails: no measurement is a refusal, never a pass.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.measurements import PartitionMeasurement, SourceMeasurement
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.verdicts import Gate, Outcome, Verdict

NOTHING_DECLARED = "no list and no mask is declared"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRules:
    """What a table declares about its gates."""

    may_be_empty: bool
    reconciled: tuple[str, ...]  # names of the measures that must agree with the input
    promises: tuple[str, ...] = ()  # names of what no row may show; see `domain.privacy`


def judge(
    days: DayRange,
    staged: Iterable[PartitionMeasurement],
    source: Iterable[SourceMeasurement],
    rules: GateRules,
) -> tuple[Verdict, ...]:
    by_day = {measured.day: measured for measured in staged}
    expected = {measured.day: measured for measured in source}
    return tuple(
        verdict
        for day in days
        for verdict in _judge_day(day, by_day.get(day), expected.get(day), rules)
    )


def _judge_day(
    day: date,
    staged: PartitionMeasurement | None,
    source: SourceMeasurement | None,
    rules: GateRules,
) -> Iterator[Verdict]:
    yield _complete(day, staged, rules)
    yield _rows_present(day, staged, rules)
    if staged is None:
        yield from (
            _unmeasured(day, gate, rules)
            for gate in (Gate.KEY_UNIQUE, Gate.SCHEMA_CONTRACT, Gate.PRIVACY_KEPT)
        )
    else:
        yield _key_unique(day, staged)
        yield _schema_contract(day, staged)
        yield _privacy_kept(day, staged, rules)
    yield _reconciled(day, staged, source, rules)


def _complete(day: date, staged: PartitionMeasurement | None, rules: GateRules) -> Verdict:
    if staged is not None:
        return _pass(Gate.PARTITIONS_COMPLETE, day, "staged", "staged")
    if rules.may_be_empty:
        return _pass(Gate.PARTITIONS_COMPLETE, day, "staged or empty", "empty")
    return _fail(
        Gate.PARTITIONS_COMPLETE, day, "staged", "nothing", "the day is missing from staging"
    )


def _rows_present(day: date, staged: PartitionMeasurement | None, rules: GateRules) -> Verdict:
    row_count = staged.row_count if staged else 0
    if row_count or rules.may_be_empty:
        return _pass(Gate.ROWS_PRESENT, day, _at_least(rules), str(row_count))
    return _fail(Gate.ROWS_PRESENT, day, _at_least(rules), "0", "the day has no rows")


def _at_least(rules: GateRules) -> str:
    return "0 or more" if rules.may_be_empty else "1 or more"


def _unmeasured(day: date, gate: Gate, rules: GateRules) -> Verdict:
    """An empty day has no duplicate and no bad value, but only if it may be empty."""
    if rules.may_be_empty:
        return _pass(gate, day, "0", "0")
    return _fail(gate, day, "0", "not measured", "nothing was measured for the day")


def _key_unique(day: date, staged: PartitionMeasurement) -> Verdict:
    if staged.duplicate_keys == 0:
        return _pass(Gate.KEY_UNIQUE, day, "0", "0")
    return _fail(
        Gate.KEY_UNIQUE,
        day,
        "0",
        str(staged.duplicate_keys),
        f"{staged.duplicate_keys} rows repeat the key of another row",
    )


def _schema_contract(day: date, staged: PartitionMeasurement) -> Verdict:
    broken = [
        *(f"{count} nulls in {column}" for column, count in _positive(staged.null_counts)),
        *(f"{count} rows fail {check}" for check, count in _positive(staged.check_failures)),
    ]
    if not broken:
        return _pass(Gate.SCHEMA_CONTRACT, day, "0", "0")
    found = sum(staged.null_counts.values()) + sum(staged.check_failures.values())
    return _fail(Gate.SCHEMA_CONTRACT, day, "0", str(found), "; ".join(broken))


def _positive(counts: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    return ((name, count) for name, count in sorted(counts.items()) if count)


def _privacy_kept(day: date, staged: PartitionMeasurement, rules: GateRules) -> Verdict:
    """Invariant: no row of a subject who is listed is published
    (test_a_listed_subject_that_comes_back_fails_the_gate_and_is_not_published)."""
    if not rules.promises:
        return _pass(Gate.PRIVACY_KEPT, day, NOTHING_DECLARED, NOTHING_DECLARED)
    expected = _listed(dict.fromkeys(rules.promises, 0))
    unmeasured = [name for name in rules.promises if name not in staged.private_rows]
    if unmeasured:
        message = f"nothing was measured of {', '.join(unmeasured)}; stage the day again"
        return _fail(Gate.PRIVACY_KEPT, day, expected, "not measured", message)
    counted = {name: staged.private_rows[name] for name in rules.promises}
    broken = dict(_positive(counted))
    if not broken:
        return _pass(Gate.PRIVACY_KEPT, day, expected, _listed(counted))
    message = f"rows that must not be shown: {_listed(broken)}"
    return _fail(Gate.PRIVACY_KEPT, day, expected, _listed(counted), message)


def _reconciled(
    day: date,
    staged: PartitionMeasurement | None,
    source: SourceMeasurement | None,
    rules: GateRules,
) -> Verdict:
    # A day that the input does not mention is a day for which it counts nothing.
    expected = {name: source.measures.get(name, 0) if source else 0 for name in rules.reconciled}
    found = {name: staged.measures.get(name, 0) if staged else 0 for name in rules.reconciled}
    if expected == found:
        return _pass(Gate.RECONCILED, day, _listed(expected), _listed(found))
    differing = [name for name in rules.reconciled if expected[name] != found[name]]
    message = "; ".join(
        f"{name}: the input says {expected[name]}, the output {found[name]}" for name in differing
    )
    return _fail(Gate.RECONCILED, day, _listed(expected), _listed(found), message)


def _listed(measures: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in measures.items())


def _pass(gate: Gate, day: date, expected: str, found: str) -> Verdict:
    return Verdict(
        gate=gate, day=day, outcome=Outcome.PASSED, expected=expected, found=found, message=""
    )


def _fail(gate: Gate, day: date, expected: str, found: str, message: str) -> Verdict:
    return Verdict(
        gate=gate, day=day, outcome=Outcome.FAILED, expected=expected, found=found, message=message
    )
