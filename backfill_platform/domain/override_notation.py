"""How people write that a run is judged otherwise than its table: on the command line and in tags.

`values_valid=WARN`, `cases_opened=2` or `cases_opened=0.5%`, `breaches=-90%..-60%`; in a tag there
are several of them with commas between. Whether a table has such a gate or measure is the planner's
to say.
"""

from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from typing import NamedTuple, TypeVar

from backfill_platform.domain.quality import ExpectedChange, Tolerance
from backfill_platform.domain.verdicts import Gate, GateSeverity

Name = TypeVar("Name", bound=str)
Value = TypeVar("Value")


class SaidSeverity(NamedTuple):
    gate: Gate
    severity: GateSeverity


class SaidTolerance(NamedTuple):
    measure: str
    tolerance: Tolerance


def parse_severity(text: str) -> SaidSeverity:
    """Raises ValueError with a sentence, as all of these, when the text is not written so."""
    gate, severity = _parts(text, "write GATE=SEVERITY, such as values_valid=WARN")
    try:
        return SaidSeverity(Gate(gate.lower()), GateSeverity(severity.upper()))
    except ValueError as wrong:
        raise ValueError(
            f"{text!r} names no gate with its severity; gates are {', '.join(Gate)}, and "
            f"severities {', '.join(GateSeverity)}"
        ) from wrong


def parse_tolerance(text: str) -> SaidTolerance:
    remedy = "write MEASURE=2 or MEASURE=0.5%"
    measure, allowed = _parts(text, remedy)
    if allowed.endswith("%"):
        return SaidTolerance(measure, Tolerance(percent=_number(allowed[:-1], text, remedy)))
    return SaidTolerance(measure, Tolerance(absolute=_number(allowed, text, remedy)))


def parse_expected(text: str) -> ExpectedChange:
    remedy = "write MEASURE=-90%..-60%, the lower end first"
    measure, ends = _parts(text, remedy)
    least, dots, most = ends.partition("..")
    if not dots or not least.endswith("%") or not most.endswith("%"):
        raise ValueError(f"{text!r} is no expected change; {remedy}")
    return ExpectedChange(
        measure=measure,
        least_percent=_number(least[:-1], text, remedy),
        most_percent=_number(most[:-1], text, remedy),
    )


def parse_list(text: str, parse: Callable[[str], Value]) -> tuple[Value, ...]:
    """As it stands in a tag."""
    return tuple(parse(part.strip()) for part in text.split(",") if part.strip())


def severities_by_gate(said: Iterable[SaidSeverity]) -> dict[Gate, GateSeverity]:
    return _by_name((one.gate, one.severity) for one in said)


def tolerances_by_measure(said: Iterable[SaidTolerance]) -> dict[str, Tolerance]:
    return _by_name((one.measure, one.tolerance) for one in said)


def _by_name(pairs: Iterable[tuple[Name, Value]]) -> dict[Name, Value]:
    named: dict[Name, Value] = {}
    for name, value in pairs:
        if name in named:
            raise ValueError(f"{name} is said twice; say it once")
        named[name] = value
    return named


def _parts(text: str, remedy: str) -> tuple[str, str]:
    name, _, value = (part.strip() for part in text.partition("="))
    if not name or not value:
        raise ValueError(f"{text!r} says too little; {remedy}")
    return name, value


def _number(digits: str, text: str, remedy: str) -> Decimal:
    try:
        number = Decimal(digits.strip())
    except InvalidOperation as wrong:
        raise ValueError(f"{text!r} holds no number; {remedy}") from wrong
    if not number.is_finite():
        raise ValueError(f"{text!r} holds no number; {remedy}")
    return number
