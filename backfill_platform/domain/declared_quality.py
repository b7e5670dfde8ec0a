"""Whether what a table promises of its content can be judged: one error that says what to change.

A promise about a column, a measure or a gate that the table does not have would never be looked at,
and nobody would notice. How data is judged is `validator.gates`.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from decimal import Decimal

from backfill_platform.domain.contracts import Contract
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.partitions import Boundary
from backfill_platform.domain.quality import (
    ROW_COUNT,
    UNBENDING,
    USUAL_SEVERITY,
    ChangeBound,
    GoldenFigure,
    Measure,
    Quality,
    Relation,
    Tolerance,
    WatermarkPolicy,
)
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.verdicts import Gate, GateSeverity

INSTANTS = frozenset({"date", "timestamp", "timestamp_ntz"})

Problem = tuple[str, str]  # the field, and what is wrong with it


def check_quality(spec: TableSpec, contracts: Mapping[str, Contract]) -> None:
    """`contracts` by name of table or source; the table's inputs are known to be among them."""
    for field, problem in _problems(spec, contracts):
        raise DeclarationInvalid(subject=spec.full_name, field=field, problem=problem)


def _problems(spec: TableSpec, contracts: Mapping[str, Contract]) -> Iterator[Problem]:
    quality = spec.quality
    if not isinstance(quality, Quality):  # pyright: ignore[reportUnnecessaryIsInstance]
        yield "quality", f"{quality!r} is not of type Quality"
        return
    contract = contracts[spec.full_name]
    for field, found in (
        ("fresh_within_hours", _freshness(spec)),
        ("reconciliation", _reconciliation(spec, contract)),
        ("quality.rows", _rows(quality)),
        ("quality.measures", _measures(spec, contract)),
        ("quality.relations", _relations(spec, contracts)),
        ("quality.instants", _instants(quality, contract)),
        ("quality.golden", _golden(spec)),
        ("quality.changes", _changes(spec)),
        ("quality.late_rows", _late_rows(quality)),
        ("quality.tolerances", _tolerances(spec)),
        ("quality.severities", _severities(spec)),
        ("quality.watched_keys", _watched_keys(spec)),
        ("quality.watermark", _word(quality.watermark, WatermarkPolicy)),
    ):
        for problem in found:
            yield field, problem


def _freshness(spec: TableSpec) -> Iterator[str]:
    hours = spec.fresh_within_hours
    if hours is not None and hours < 1:
        yield f"{hours} is fresh never; use 1 or more, or leave it out"


def _reconciliation(spec: TableSpec, contract: Contract) -> Iterator[str]:
    yield from _columns(spec.reconciliation.by, contract, "by")
    yield from _twice(spec.reconciliation.by, "the column {} stands in by")
    if ROW_COUNT in spec.reconciliation.from_output:
        yield f"{ROW_COUNT!r} is what every table has; call the measure another name"


def _rows(quality: Quality) -> Iterator[str]:
    for name in ("rows_least", "rejects_most"):
        if getattr(quality, name) < 0:
            yield f"{name} is {getattr(quality, name)}; use 0 or more"
    if quality.rows_most is not None and quality.rows_most < quality.rows_least:
        yield (
            f"rows_most is {quality.rows_most} and rows_least {quality.rows_least}; "
            "no day could have both"
        )
    if quality.rows_least_share_of_usual is not None:
        yield from _share(quality.rows_least_share_of_usual, "rows_least_share_of_usual")


def _measures(spec: TableSpec, contract: Contract) -> Iterator[str]:
    declared = spec.quality.measures
    reconciled = spec.reconciliation.from_output
    yield from _twice((measure.name for measure in declared), "the measure {} is declared")
    for measure in declared:
        if not measure.name.isidentifier():
            yield f"{measure.name!r} is no name; use letters, digits and _"
        if measure.name == ROW_COUNT:
            yield f"{ROW_COUNT!r} is what every table has; leave it out"
        if measure.name in reconciled:
            yield f"{measure.name!r} is reconciled as well; leave it out, or call it another name"
        if not measure.expression.strip():
            yield f"{measure.name!r} has no expression; write an SQL aggregate such as count(1)"
        yield from _columns(measure.by, contract, measure.name)


def _relations(spec: TableSpec, contracts: Mapping[str, Contract]) -> Iterator[str]:
    relations = spec.quality.relations
    yield from _twice((relation.name for relation in relations), "the relation {} is declared")
    for relation in relations:
        if not relation.columns:
            yield f"{relation.name!r} names no columns of this table"
        yield from _columns(relation.columns, contracts[spec.full_name], relation.name)
        yield from _what_is_referred_to(relation, spec, contracts)


def _what_is_referred_to(
    relation: Relation, spec: TableSpec, contracts: Mapping[str, Contract]
) -> Iterator[str]:
    inputs = [used.name for used in spec.inputs]
    references = [used.name for used in spec.references]
    if relation.to in inputs:
        yield from _rows_of_an_input(relation, contracts[relation.to])
    elif relation.to in references:
        yield from _values_of_reference_data(relation)
    else:
        yield (
            f"{relation.name!r} refers to {relation.to!r}, which the table does not read; "
            f"it reads {', '.join([*inputs, *references])}"
        )


def _rows_of_an_input(relation: Relation, contract: Contract) -> Iterator[str]:
    if relation.known is not None:
        yield f"{relation.name!r} refers to rows of an input, which have no known=; leave it out"
    to_columns = relation.to_columns or relation.columns
    yield from _columns(to_columns, contract, f"{relation.name!r} in {relation.to}")
    if len(to_columns) != len(relation.columns):
        yield (
            f"{relation.name!r} compares {len(relation.columns)} columns with {len(to_columns)}; "
            "name as many in to_columns as in columns"
        )


def _values_of_reference_data(relation: Relation) -> Iterator[str]:
    if relation.known is None:
        yield f"{relation.name!r} refers to reference data; say with known= which values it has"
    if relation.to_columns:
        yield f"{relation.name!r} refers to reference data, which has no columns; use known= alone"
    if len(relation.columns) > 1:
        yield f"{relation.name!r} looks up single values, so it takes one column"


def _instants(quality: Quality, contract: Contract) -> Iterator[str]:
    yield from _twice((bound.column for bound in quality.instants), "the column {} is bounded")
    for bound in quality.instants:
        column = contract.column(bound.column)
        if column is None:
            yield from _columns([bound.column], contract, "a bound")
        elif column.type not in INSTANTS:
            yield f"{bound.column!r} is a {column.type}; only instants and dates have bounds"
        if bound.latest - bound.earliest <= timedelta(0):
            yield (
                f"{bound.column!r} would lie before {bound.latest} and from {bound.earliest} on, "
                "where nothing lies; swap them"
            )


def _golden(spec: TableSpec) -> Iterator[str]:
    golden = spec.quality.golden
    places = (f"{one.measure}/{one.value} of {one.day}" for one in golden)
    yield from _twice(places, "the figure {} is agreed upon")
    for agreed in golden:
        yield from _known_measure(spec, agreed.measure)
        yield from _number(agreed.figure, f"the figure of {agreed.measure!r}", least=None)
        yield from _golden_value(spec, agreed)
        if agreed.day < spec.start:
            yield f"{agreed.day} lies before the table starts ({spec.start})"


def _golden_value(spec: TableSpec, agreed: GoldenFigure) -> Iterator[str]:
    if agreed.value and not _dimension(spec, agreed.measure):
        yield (
            f"{agreed.measure!r} is counted by nothing, so it has no figure of {agreed.value!r}; "
            "declare by= of the measure, or leave the value out"
        )
    if not agreed.origin.strip():
        yield f"the figure of {agreed.measure!r} of {agreed.day} needs an origin: where it stands"


def _changes(spec: TableSpec) -> Iterator[str]:
    bounds = spec.quality.changes
    yield from _twice(
        (f"{one.measure} per {one.per}" for one in bounds), "the change of {} is bounded"
    )
    for bound in bounds:
        yield from _known_measure(spec, bound.measure)
        yield from _word(bound.per, Boundary)
        yield from _change_numbers(bound)


def _change_numbers(bound: ChangeBound) -> Iterator[str]:
    for name in ("fall_percent", "rise_percent", "at_least"):
        yield from _number(getattr(bound, name), f"{name} of {bound.measure!r}")
    if bound.fall_percent > 100:
        yield f"{bound.measure!r} cannot fall by more than 100 percent; use 100"


def _late_rows(quality: Quality) -> Iterator[str]:
    if quality.late_rows is not None:
        yield from _tolerance(quality.late_rows, "late_rows")


def _tolerances(spec: TableSpec) -> Iterator[str]:
    """Of what is held against an expected figure; a change has a bound of its own."""
    golden = (agreed.measure for agreed in spec.quality.golden)
    known = list(dict.fromkeys([*spec.reconciliation.from_output, *golden]))
    for measure, tolerance in spec.quality.tolerances.items():
        if measure not in known:
            yield (
                f"{measure!r} is neither reconciled nor golden, so nothing would tolerate by it; "
                f"known are {', '.join(known) or 'none'}"
            )
        yield from _tolerance(tolerance, repr(measure))


def _severities(spec: TableSpec) -> Iterator[str]:
    for gate, severity in spec.quality.severities.items():
        yield from _word(gate, Gate)
        yield from _word(severity, GateSeverity)
        if gate not in spec.gates:
            yield f"the table has no gate {gate}; it has {', '.join(spec.gates)}"
        elif gate in UNBENDING and severity is not USUAL_SEVERITY[gate]:
            yield (
                f"{gate} stays {USUAL_SEVERITY[gate]}: without it the other figures mean nothing; "
                "leave it out"
            )


def _watched_keys(spec: TableSpec) -> Iterator[str]:
    for watched in spec.quality.watched_keys:
        if not watched:
            yield "one of them names no column; write for example {'case_id': '…'}"
        for column in watched:
            if column not in spec.keys:
                yield f"{column!r} is no key of the table; its keys are {', '.join(spec.keys)}"


def _tolerance(tolerance: Tolerance, what: str) -> Iterator[str]:
    for name in ("absolute", "percent"):
        yield from _number(getattr(tolerance, name), f"{name} of {what}")


def _share(share: object, what: str) -> Iterator[str]:
    yield from _number(share, what)
    if isinstance(share, Decimal | int) and share > 1:
        yield f"{what} is {share}; use a share such as Decimal('0.5')"


def _number(number: object, what: str, *, least: int | None = 0) -> Iterator[str]:
    """A float is not the number that was written down."""
    if not isinstance(number, Decimal | int):
        yield f"{what} is {number!r}; write Decimal('{number}')"
    elif least is not None and number < least:
        yield f"{what} is {number}; use {least} or more"


def _word(value: object, kind: type) -> Iterator[str]:
    if not isinstance(value, kind):
        yield f"{value!r} is not of type {kind.__name__}"


def _columns(names: Iterable[str], contract: Contract, what: str) -> Iterator[str]:
    for name in names:
        if contract.column(name) is None:
            yield (f"{what}: {name!r} is not in the schema ({', '.join(contract.column_names)})")


def _known_measure(spec: TableSpec, measure: str) -> Iterator[str]:
    declared = (known.name for known in spec.quality.measures)
    known = [ROW_COUNT, *spec.reconciliation.from_output, *declared]
    if measure not in known:
        yield f"unknown measure {measure!r}; known are {', '.join(known)}"


def _dimension(spec: TableSpec, measure: str) -> tuple[str, ...]:
    declared: Iterable[Measure] = spec.quality.measures
    by = next((known.by for known in declared if known.name == measure), ())
    return spec.reconciliation.by if measure in spec.reconciliation.from_output else by


def _twice(names: Iterable[str], said: str) -> Iterator[str]:
    seen = set[str]()
    for name in names:
        if name in seen:
            yield f"{said.format(repr(name))} twice; leave one out"
        seen.add(name)
