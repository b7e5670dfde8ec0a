"""What a table promises about its content can be judged, or is refused in one error."""

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from backfill_platform.domain.catalog import Catalog, Declarations, build_catalog
from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.partitions import Boundary
from backfill_platform.domain.quality import (
    UNBENDING,
    ChangeBound,
    GoldenFigure,
    InstantBound,
    Measure,
    Quality,
    Relation,
    Tolerance,
)
from backfill_platform.domain.tables import (
    Input,
    Reconciliation,
    ReferenceData,
    ReferenceUse,
    ReferenceVersion,
)
from backfill_platform.domain.verdicts import Gate, GateSeverity
from backfill_platform_tests.declarations import SOURCE, make_table, nothing

DAY = date(2025, 1, 1)
HOUR = timedelta(hours=1)
SCHEMA = Contract(
    columns=(
        Column(name="day", type="date", is_nullable=False),
        Column(name="case_id", type="string", is_nullable=False),
        Column(name="place", type="string", is_nullable=False),
        Column(name="opened_at", type="timestamp", is_nullable=False),
    ),
    checks=(),
)
CALENDAR = ReferenceData(
    name="calendar",
    versions=(ReferenceVersion(version="v1", recorded_on=DAY, path=Path("v1.json"), note="tests"),),
    load=nothing,
    owner="legal",
    description="Places and their working days.",
)


def places(_loaded: Any) -> list[str]:
    return ["DE", "FR"]


TO_EVENTS = Relation(name="event", columns=("case_id",), to="landing.events")
TO_CALENDAR = Relation(name="place", columns=("place",), to="calendar", known=places)
CASES = Measure(name="cases", expression="count(1)", by=("place",))
FALLS = ChangeBound(measure="cases", fall_percent=Decimal(20), rise_percent=Decimal(50))
GOLDEN = GoldenFigure(
    day=DAY, measure="cases", value="DE", figure=Decimal(7), origin="the report of January"
)
GOOD: dict[str, Any] = {
    "rows_least": 2,
    "rows_most": 9,
    "rows_least_share_of_usual": Decimal("0.5"),
    "relations": (TO_EVENTS, TO_CALENDAR),
    "instants": (InstantBound(column="opened_at", earliest=-HOUR, latest=HOUR),),
    "measures": (CASES,),
    "golden": (GOLDEN,),
    "changes": (FALLS,),
    "late_rows": Tolerance(percent=Decimal(1)),
    "tolerances": {"rows": Tolerance(absolute=Decimal(1))},
    "severities": {Gate.GOLDEN_KEPT: GateSeverity.HOLD},
    "watched_keys": ({"case_id": "c-1"},),
}


def build(spec_changes: dict[str, Any], **quality: Any) -> Catalog:
    reconciliation = Reconciliation(
        from_inputs=nothing, from_output={"rows": "count(*)"}, by=("place",)
    )
    declared: dict[str, Any] = {
        "inputs": (Input(name="landing.events"),),
        "references": (ReferenceUse(name="calendar", version="v1"),),
        "reconciliation": reconciliation,
        "quality": Quality(**(GOOD | quality)),
    }
    table = make_table(**(declared | spec_changes))
    return build_catalog(
        Declarations(sources=(SOURCE,), references=(CALENDAR,), tables=(table,)),
        read_contract=lambda _model: SCHEMA,
    )


def refusal(spec_changes: dict[str, Any], **quality: Any) -> DeclarationInvalid:
    with pytest.raises(DeclarationInvalid) as refused:
        build(spec_changes, **quality)
    return refused.value


def test_what_can_be_judged_is_taken():
    assert build({}).tables["silver.cases"].quality == Quality(**GOOD)


def test_an_edge_of_each_bound_is_still_taken():
    edges = {"rows_least": 0, "rows_most": 0, "rejects_most": 0, "rows_least_share_of_usual": 1}
    assert build({"fresh_within_hours": 1}, **edges).tables


def relation(**changes: Any) -> dict[str, Any]:
    declared = {"name": "event", "columns": ("case_id",), "to": "landing.events"}
    return {"relations": (Relation(**(declared | changes)),)}


def instant(column: str, earliest: timedelta = -HOUR, latest: timedelta = HOUR) -> dict[str, Any]:
    return {"instants": (InstantBound(column=column, earliest=earliest, latest=latest),)}


def measure(*declared: tuple[str, str, tuple[str, ...]]) -> dict[str, Any]:
    made = (Measure(name=name, expression=text, by=by) for name, text, by in declared)
    return {"measures": (*made,), "changes": (), "golden": ()}


def golden(**changes: Any) -> dict[str, Any]:
    declared = {"day": DAY, "measure": "cases", "figure": Decimal(1), "origin": "a report"}
    return {"golden": (GoldenFigure(**(declared | changes)),)}


def change(**changes: Any) -> dict[str, Any]:
    declared = {"measure": "cases", "fall_percent": Decimal(1), "rise_percent": Decimal(1)}
    return {"changes": (ChangeBound(**(declared | changes)),)}


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "rows_least": ("rows", {"rows_least": -1}, "rows_least is -1; use 0 or more"),
    "rejects_most": ("rows", {"rejects_most": -1}, "rejects_most is -1; use 0 or more"),
    "rows_most": ("rows", {"rows_least": 3, "rows_most": 2}, "no day could have both"),
    "share as a float": (
        "rows",
        {"rows_least_share_of_usual": 0.5},
        "rows_least_share_of_usual is 0.5; write Decimal('0.5')",
    ),
    "share of more than all": (
        "rows",
        {"rows_least_share_of_usual": Decimal("1.5")},
        "rows_least_share_of_usual is 1.5; use a share such as Decimal('0.5')",
    ),
    "negative share": (
        "rows",
        {"rows_least_share_of_usual": Decimal(-1)},
        "rows_least_share_of_usual is -1; use 0 or more",
    ),
    "relation twice": ("relations", {"relations": (TO_EVENTS, TO_EVENTS)}, "'event' is declared"),
    "relation of nothing": ("relations", relation(columns=()), "'event' names no columns"),
    "relation of a column": ("relations", relation(columns=("no",)), "'no' is not in the schema"),
    "relation to a column": (
        "relations",
        relation(to_columns=("no",)),
        "'event' in landing.events: 'no' is not in the schema",
    ),
    "relation to more": ("relations", relation(to_columns=("case_id", "day")), "1 columns with 2"),
    "relation to nobody": (
        "relations",
        relation(to="bronze.gone"),
        "'bronze.gone', which the table does not read; it reads landing.events, calendar",
    ),
    "input with known": ("relations", relation(known=places), "have no known=; leave it out"),
    "reference alone": ("relations", relation(to="calendar"), "say with known= which values"),
    "reference with columns": (
        "relations",
        relation(to="calendar", known=places, to_columns=("place",)),
        "which has no columns; use known= alone",
    ),
    "reference of two": (
        "relations",
        relation(to="calendar", known=places, columns=("place", "case_id")),
        "so it takes one column",
    ),
    "instant unknown": ("instants", instant("closed_at"), "'closed_at' is not in the schema"),
    "instant of text": ("instants", instant("place"), "'place' is a string; only instants"),
    "instant nowhere": ("instants", instant("opened_at", HOUR, HOUR), "where nothing lies"),
    "instant twice": (
        "instants",
        {"instants": instant("opened_at")["instants"] * 2},
        "the column 'opened_at' is bounded twice",
    ),
    "measure twice": ("measures", {"measures": (CASES, CASES)}, "'cases' is declared twice"),
    "measure by": ("measures", measure(("a", "count(1)", ("no",))), "a: 'no' is not in the schema"),
    "measure unnamed": ("measures", measure(("a b", "count(1)", ())), "'a b' is no name"),
    "measure of rows": ("measures", measure(("row_count", "count(1)", ())), "every table has"),
    "measure reconciled": ("measures", measure(("rows", "sum(1)", ())), "is reconciled as well"),
    "measure of nothing": ("measures", measure(("a", " ", ())), "'a' has no expression"),
    "golden unknown": ("golden", golden(measure="no"), "known are row_count, rows, cases"),
    "golden early": ("golden", golden(day=date(2024, 11, 30)), "lies before the table starts"),
    "golden float": ("golden", golden(figure=0.5), "is 0.5; write Decimal('0.5')"),
    "golden nowhere": ("golden", golden(origin=""), "needs an origin: where it stands"),
    "golden twice": ("golden", {"golden": (GOLDEN, GOLDEN)}, "is agreed upon twice"),
    "golden value": (
        "golden",
        golden(measure="row_count", value="DE"),
        "'row_count' is counted by nothing, so it has no figure of 'DE'",
    ),
    "change unknown": ("changes", change(measure="no"), "unknown measure 'no'; known are row_c"),
    "change negative": ("changes", change(rise_percent=Decimal(-1)), "is -1; use 0 or more"),
    "change float": ("changes", change(at_least=0.1), "is 0.1; write Decimal('0.1')"),
    "change beyond all": ("changes", change(fall_percent=Decimal(101)), "by more than 100 percent"),
    "change per word": ("changes", change(per="YEAR"), "'YEAR' is not of type Boundary"),
    "change twice": ("changes", {"changes": (FALLS, FALLS)}, "'cases per DAY' is bounded twice"),
    "late negative": (
        "late_rows",
        {"late_rows": Tolerance(percent=Decimal(-1))},
        "percent of late_rows is -1; use 0 or more",
    ),
    "tolerance unknown": (
        "tolerances",
        {"tolerances": {"amount": Tolerance()}},
        "'amount' is neither reconciled nor golden, so nothing would tolerate by it",
    ),
    "tolerance negative": (
        "tolerances",
        {"tolerances": {"rows": Tolerance(absolute=Decimal(-2))}},
        "absolute of 'rows' is -2; use 0 or more",
    ),
    "severity of no gate": (
        "severities",
        {"severities": {Gate.PRIVACY_KEPT: GateSeverity.BLOCK}},
        "the table has no gate privacy_kept; it has partitions_complete, ",
    ),
    "severity word": ("severities", {"severities": {Gate.GOLDEN_KEPT: "WARN"}}, "GateSeverity"),
    "watched nothing": ("watched_keys", {"watched_keys": ({},)}, "names no column"),
    "watched other": ("watched_keys", {"watched_keys": ({"place": "DE"},)}, "'place' is no key"),
    "watermark": ("watermark", {"watermark": "SOON"}, "'SOON' is not of type WatermarkPolicy"),
}


@pytest.mark.parametrize(("field", "quality", "says"), WRONG.values(), ids=WRONG.keys())
def test_a_promise_that_nothing_could_keep_is_refused_with_its_field(field, quality, says):
    refused = refusal({}, **quality)
    assert (refused.subject, refused.field) == ("silver.cases", f"quality.{field}")
    assert says in refused.problem


ALWAYS_THERE = sorted(UNBENDING - {Gate.PRIVACY_KEPT})


@pytest.mark.parametrize("gate", ALWAYS_THERE)
@pytest.mark.parametrize("milder", [GateSeverity.HOLD, GateSeverity.WARN])
def test_an_unbending_gate_is_not_declared_milder(gate, milder):
    refused = refusal({}, severities={gate: milder})
    assert f"{gate} stays BLOCK" in refused.problem


def reconciled(by: tuple[str, ...] = (), **from_output: str) -> dict[str, Any]:
    return {
        "reconciliation": Reconciliation(
            from_inputs=nothing, from_output={"rows": "count(1)", **from_output}, by=by
        )
    }


@pytest.mark.parametrize(
    ("field", "changes", "says"),
    [
        ("quality", {"quality": "good"}, "'good' is not of type Quality"),
        ("fresh_within_hours", {"fresh_within_hours": 0}, "0 is fresh never; use 1 or more"),
        ("reconciliation", reconciled(("no",)), "by: 'no' is not in the schema"),
        ("reconciliation", reconciled(("place", "place")), "'place' stands in by twice"),
        ("reconciliation", reconciled(row_count="count(1)"), "'row_count' is what every table"),
    ],
)
def test_what_stands_beside_the_promises_is_refused_with_its_own_field(field, changes, says):
    refused = refusal(changes)
    assert refused.field == field
    assert says in refused.problem


def test_a_week_and_a_month_of_one_measure_have_bounds_of_their_own():
    bounds = tuple(
        ChangeBound(measure="cases", fall_percent=Decimal(5), rise_percent=Decimal(5), per=per)
        for per in (Boundary.WEEK, Boundary.MONTH)
    )
    assert build({}, changes=bounds).tables
