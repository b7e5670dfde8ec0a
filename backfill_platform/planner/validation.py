"""How a run is judged: as its table declares, and otherwise where whoever plans it says so.

Each difference from the table is a sentence that everybody reads who is asked for consent. What no
run may say is a reason to refuse the plan; nothing is looked up, and nothing is judged here.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import Validation
from backfill_platform.domain.quality import (
    EXACT,
    UNBENDING,
    USUAL_SEVERITY,
    ChangeBound,
    ExpectedChange,
    Tolerance,
)
from backfill_platform.domain.quality_digest import quality_digest
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.verdicts import Gate, GateSeverity

_ALL_OF_IT = Decimal(-100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """What a run says otherwise than its table."""

    sentence: str
    is_milder: bool


def pin_validation(spec: TableSpec, intent: Intent) -> Validation:
    quality, declared = spec.quality, declared_severities(spec)
    return Validation(
        gates=tuple(gate.value for gate in spec.gates),
        count_tolerance=0,
        checksum_required=True,
        quality_digest=quality_digest(spec),
        severities={
            gate.value: intent.severities.get(gate, severity) for gate, severity in declared.items()
        },
        tolerances={**quality.tolerances, **intent.tolerances},
        changes=quality.changes,
        expected_changes=_in_order(intent.expected_changes),
        overridden=tuple(found.sentence for found in overrides(spec, intent)),
        watermark=quality.watermark,
    )


def declared_severities(spec: TableSpec) -> dict[Gate, GateSeverity]:
    """Of the gates that the table has: its own word, or else the usual one."""
    effective = {**USUAL_SEVERITY, **spec.quality.severities}
    return {gate: effective[gate] for gate in spec.gates}


def overrides(spec: TableSpec, intent: Intent) -> tuple[Override, ...]:
    """Whoever repeats what the table says overrides nothing."""
    return (
        *_severity_overrides(spec, intent),
        *_tolerance_overrides(spec, intent),
        *_change_overrides(spec, intent),
    )


def override_reasons(spec: TableSpec, intent: Intent) -> Iterator[str]:
    """What no run may say about how it is judged."""
    yield from _severity_reasons(spec, intent)
    yield from _tolerance_reasons(spec, intent)
    yield from _change_reasons(spec, intent)


def _severity_overrides(spec: TableSpec, intent: Intent) -> Iterator[Override]:
    for gate, declared in declared_severities(spec).items():
        said = intent.severities.get(gate, declared)
        if said is not declared:
            yield Override(
                sentence=f"gate {gate} is {said}, and {declared} by its table",
                is_milder=said.is_milder_than(declared),
            )


def _tolerance_overrides(spec: TableSpec, intent: Intent) -> Iterator[Override]:
    for measure, said in sorted(intent.tolerances.items()):
        declared = spec.quality.tolerances.get(measure, EXACT)
        if said != declared:
            is_within = said.absolute <= declared.absolute and said.percent <= declared.percent
            yield Override(
                sentence=(
                    f"{measure} may stray by {name_tolerance(said)}, and by "
                    f"{name_tolerance(declared)} by its table"
                ),
                is_milder=not is_within,
            )


def _change_overrides(spec: TableSpec, intent: Intent) -> Iterator[Override]:
    for expected in _in_order(intent.expected_changes):
        bounds = [bound for bound in spec.quality.changes if bound.measure == expected.measure]
        declared = " and ".join(dict.fromkeys(map(_name_bound, bounds)))
        yield Override(
            sentence=(
                f"{expected.measure} is expected to change by {name_expected(expected)}, and by "
                f"{declared} by its table"
            ),
            # Where a whole is expected to move, its values by dimension are no longer judged.
            is_milder=_has_dimension(spec, expected.measure)
            or not all(_is_within(expected, bound) for bound in bounds),
        )


def name_tolerance(tolerance: Tolerance) -> str:
    allowed = [
        *([f"{tolerance.absolute:f}"] if tolerance.absolute else []),
        *([f"{tolerance.percent:f} %"] if tolerance.percent else []),
    ]
    return " or ".join(allowed) or "nothing"


def name_expected(expected: ExpectedChange) -> str:
    return f"{expected.least_percent:+f} % to {expected.most_percent:+f} %"


def _name_bound(bound: ChangeBound) -> str:
    return f"{-bound.fall_percent:+f} % to {bound.rise_percent:+f} % a {bound.per}"


def _has_dimension(spec: TableSpec, measure: str) -> bool:
    declared = {one.name for one in spec.quality.measures if one.by}
    reconciled = spec.reconciliation.from_output if spec.reconciliation.by else ()
    return measure in declared or measure in reconciled


def _is_within(expected: ExpectedChange, bound: ChangeBound) -> bool:
    return (
        -bound.fall_percent <= expected.least_percent
        and expected.most_percent <= bound.rise_percent
    )


def _severity_reasons(spec: TableSpec, intent: Intent) -> Iterator[str]:
    declared = declared_severities(spec)
    for gate in (gate for gate in Gate if gate in intent.severities):
        said = intent.severities[gate]
        if gate not in declared:
            yield f"{spec.full_name} has no gate {gate}; it has {', '.join(declared)}"
        elif gate in UNBENDING and said.is_milder_than(declared[gate]):
            yield (
                f"gate {gate} stays {declared[gate]}: without it the other figures mean nothing, "
                f"so no run makes it {said}; leave it out"
            )


def _tolerance_reasons(spec: TableSpec, intent: Intent) -> Iterator[str]:
    compared = [golden.measure for golden in spec.quality.golden]
    known = _once([*spec.reconciliation.from_output, *compared])
    for measure, said in sorted(intent.tolerances.items()):
        if measure not in known:
            yield (
                f"{spec.full_name} holds no measure {measure!r} against an expected figure, so it "
                f"takes no tolerance; it holds {', '.join(known) or 'none'}"
            )
        if said.absolute < 0 or said.percent < 0:
            yield f"the tolerance of {measure} is below zero; write 2, or 0.5%"


def _change_reasons(spec: TableSpec, intent: Intent) -> Iterator[str]:
    known = _once(bound.measure for bound in spec.quality.changes)
    named = [expected.measure for expected in intent.expected_changes]
    for measure in sorted(name for name in set(named) if named.count(name) > 1):
        yield f"the change of {measure} is expected twice; say it once"
    for expected in _in_order(intent.expected_changes):
        if expected.measure not in known:
            yield (
                f"{spec.full_name} bounds no change of a measure {expected.measure!r}, so none is "
                f"to be expected; it bounds {', '.join(known) or 'none'}"
            )
        if expected.least_percent > expected.most_percent:
            yield (
                f"the change of {expected.measure} is expected to be {name_expected(expected)}; "
                "write the lower end first"
            )
        if min(expected.least_percent, expected.most_percent) < _ALL_OF_IT:
            yield (
                f"{expected.measure} is expected to change by {name_expected(expected)}, and "
                "nothing falls by more than 100 %"
            )


def _in_order(expected: Iterable[ExpectedChange]) -> tuple[ExpectedChange, ...]:
    return tuple(sorted(expected, key=lambda one: one.measure))


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
