"""How a run is judged stands in its manifest: as its table declares, or as the run says."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from backfill_platform.domain.findings import Check, Severity
from backfill_platform.domain.modes import Classification
from backfill_platform.domain.partitions import Boundary
from backfill_platform.domain.privacy import Privacy
from backfill_platform.domain.quality import (
    ChangeBound,
    ExpectedChange,
    GoldenFigure,
    Measure,
    Quality,
    Tolerance,
    WatermarkPolicy,
)
from backfill_platform.domain.verdicts import Gate, GateSeverity
from backfill_platform_tests.planner.worlds import (
    CATALOG,
    INTENT,
    finding,
    make_world,
    plan,
    reasons,
)

FALLS = ChangeBound(
    measure="breaches", fall_percent=Decimal(20), rise_percent=Decimal(30), per=Boundary.MONTH
)
TWO_ROWS = Tolerance(absolute=Decimal(2))
QUALITY = Quality(
    measures=(Measure(name="breaches", expression="count_if(is_breached)"),),
    changes=(FALLS,),
    golden=(
        GoldenFigure(
            day=date(2025, 3, 1), measure="breaches", figure=Decimal(7), origin="report Q1"
        ),
    ),
    tolerances={"rows": TWO_ROWS},
    severities={Gate.RECONCILED: GateSeverity.HOLD},
    watermark=WatermarkPolicy.BY_TIME_PARTITION,
)
DECLARED = make_world(quality=QUALITY)


def expected(least: int, most: int, measure: str = "breaches") -> ExpectedChange:
    return ExpectedChange(measure=measure, least_percent=Decimal(least), most_percent=Decimal(most))


def judged(**said: Any):
    return plan(replace(INTENT, **said), catalog=DECLARED).validation


def refused(**said: Any) -> str:
    return reasons(replace(INTENT, **said), catalog=DECLARED)


def test_a_run_is_held_to_every_gate_of_its_table():
    spec = DECLARED.tables["silver.cases"]
    assert judged().gates == tuple(gate.value for gate in spec.gates)
    assert {"change_expected", "golden_kept"} < set(judged().gates)


def test_a_gate_that_a_table_has_for_its_privacy_is_pinned_too():
    private = make_world(
        classification=Classification.INTERNAL,
        privacy=Privacy(column_classes={"amount": Classification.INTERNAL}),
    )
    assert Gate.PRIVACY_KEPT.value in plan(catalog=private).validation.gates


def test_severities_are_the_usual_ones_then_the_tables_then_the_runs():
    found = judged(severities={Gate.VALUES_VALID: GateSeverity.WARN}).severities
    assert {
        gate: found[gate.value]
        for gate in (Gate.KEY_UNIQUE, Gate.CHANGE_EXPECTED, Gate.RECONCILED, Gate.VALUES_VALID)
    } == {
        Gate.KEY_UNIQUE: GateSeverity.BLOCK,
        Gate.CHANGE_EXPECTED: GateSeverity.HOLD,
        Gate.RECONCILED: GateSeverity.HOLD,
        Gate.VALUES_VALID: GateSeverity.WARN,
    }


def test_every_gate_of_the_table_has_a_severity():
    assert tuple(judged().severities) == judged().gates


def test_a_tolerance_of_the_run_takes_the_place_of_the_tables():
    half = Tolerance(percent=Decimal("0.5"))
    assert judged(tolerances={"breaches": half}).tolerances == {"rows": TWO_ROWS, "breaches": half}


def test_what_is_expected_stands_beside_the_tables_bound():
    found = judged(expected_changes=(expected(-90, -60),))
    assert (found.changes, found.expected_changes) == ((FALLS,), (expected(-90, -60),))


def test_a_run_that_says_nothing_overrides_nothing():
    assert judged().overridden == ()


def test_a_run_that_repeats_its_table_overrides_nothing():
    said = judged(severities={Gate.RECONCILED: GateSeverity.HOLD}, tolerances={"rows": TWO_ROWS})
    assert said.overridden == ()


def test_each_thing_that_a_run_says_otherwise_is_a_sentence():
    found = judged(
        severities={Gate.VALUES_VALID: GateSeverity.WARN, Gate.RECONCILED: GateSeverity.BLOCK},
        tolerances={"rows": Tolerance(absolute=Decimal(5), percent=Decimal("0.5"))},
        expected_changes=(expected(-90, -60),),
    )
    assert found.overridden == (
        "gate values_valid is WARN, and BLOCK by its table",
        "gate reconciled is BLOCK, and HOLD by its table",
        "rows may stray by 5 or 0.5 %, and by 2 by its table",
        "breaches is expected to change by -90 % to -60 %, and by -20 % to +30 % a MONTH by its "
        "table",
    )


def test_the_watermark_policy_of_the_table_is_pinned():
    complete = replace(QUALITY, watermark=WatermarkPolicy.BY_COMPLETE_WINDOW)
    found = plan(catalog=make_world(quality=complete)).validation
    assert found.watermark is WatermarkPolicy.BY_COMPLETE_WINDOW


def test_a_gate_that_the_table_does_not_have_cannot_be_overridden():
    said = replace(INTENT, severities={Gate.LATE_DATA: GateSeverity.HOLD})
    assert "silver.cases has no gate late_data; it has partitions_complete" in reasons(
        said, catalog=CATALOG
    )


def test_no_run_makes_a_gate_milder_on_which_the_other_figures_rest():
    assert "gate key_unique stays BLOCK" in refused(severities={Gate.KEY_UNIQUE: GateSeverity.WARN})


def test_an_unbending_gate_may_be_named_as_it_is():
    assert judged(severities={Gate.KEY_UNIQUE: GateSeverity.BLOCK}).overridden == ()


def test_a_tolerance_of_what_is_held_against_nothing_is_refused_with_what_is():
    found = refused(tolerances={"row": TWO_ROWS})
    assert "holds no measure 'row' against an expected figure" in found
    assert "it holds rows, breaches" in found


@pytest.mark.parametrize("below", [{"absolute": Decimal(-1)}, {"percent": Decimal("-0.1")}])
def test_a_tolerance_below_zero_is_refused(below: dict[str, Decimal]):
    assert "the tolerance of rows is below zero" in refused(tolerances={"rows": Tolerance(**below)})


def test_a_change_that_nothing_bounds_cannot_be_expected():
    found = refused(expected_changes=(expected(-5, 5, measure="rows"),))
    assert "bounds no change of a measure 'rows'" in found
    assert "it bounds breaches" in found


def test_a_change_is_expected_from_its_lower_end_to_its_upper_end():
    assert "write the lower end first" in refused(expected_changes=(expected(-60, -90),))


def test_nothing_is_expected_to_fall_by_more_than_all_of_it():
    assert "nothing falls by more than 100 %" in refused(expected_changes=(expected(-101, -60),))


def test_one_change_is_not_expected_twice():
    twice = (expected(-90, -60), expected(-10, 0))
    assert "the change of breaches is expected twice" in refused(expected_changes=twice)


def test_everything_that_no_run_may_say_is_refused_at_once():
    found = refused(
        severities={Gate.KEY_UNIQUE: GateSeverity.WARN, Gate.LATE_DATA: GateSeverity.HOLD},
        tolerances={"row": Tolerance(absolute=Decimal(-1))},
        expected_changes=(expected(-60, -190, measure="rows"),),
    )
    assert [sentence.split(" ")[0:3] for sentence in found.splitlines()] == [
        ["gate", "key_unique", "stays"],
        ["silver.cases", "has", "no"],
        ["silver.cases", "holds", "no"],
        ["the", "tolerance", "of"],
        ["silver.cases", "bounds", "no"],
        ["the", "change", "of"],
        ["rows", "is", "expected"],
    ]


def test_the_order_in_which_changes_are_expected_does_not_matter():
    bounds = (FALLS, replace(FALLS, measure="row_count"))
    world = make_world(quality=replace(QUALITY, changes=bounds))
    said = (expected(-90, -60), expected(-5, 5, measure="row_count"))
    plans = [
        plan(replace(INTENT, expected_changes=order), catalog=world) for order in (said, said[::-1])
    ]
    assert plans[0].digest == plans[1].digest


def judged_as_declared(**said: Any):
    return finding(Check.JUDGED_AS_DECLARED, replace(INTENT, **said), catalog=DECLARED)


def test_a_plan_that_is_judged_more_mildly_warns_whoever_reads_it():
    found = judged_as_declared(severities={Gate.VALUES_VALID: GateSeverity.WARN})
    assert (found.severity, found.message) == (
        Severity.WARN,
        "this run is judged more mildly than its table: gate values_valid is WARN, and BLOCK by "
        "its table",
    )


def test_a_plan_that_is_judged_more_strictly_needs_no_warning():
    found = judged_as_declared(severities={Gate.RECONCILED: GateSeverity.BLOCK})
    assert found.severity is Severity.PASS
    assert found.message.startswith("more strictly: gate reconciled is BLOCK")


@pytest.mark.parametrize(
    ("said", "severity"),
    [
        ({"tolerances": {"rows": Tolerance(absolute=Decimal(1))}}, Severity.PASS),
        ({"tolerances": {"rows": Tolerance(percent=Decimal(1))}}, Severity.WARN),
        ({"expected_changes": (expected(-10, 10),)}, Severity.PASS),
        ({"expected_changes": (expected(-10, 31),)}, Severity.WARN),
    ],
    ids=["within the tolerance", "in another unit", "within the bound", "beyond the bound"],
)
def test_what_lies_within_the_declared_is_no_milder(said: dict[str, Any], severity: Severity):
    assert judged_as_declared(**said).severity is severity


def test_expecting_a_whole_to_move_is_milder_where_its_values_were_bounded_each():
    by_place = Measure(name="breaches", expression="count_if(is_breached)", by=("case_id",))
    world = make_world(quality=replace(QUALITY, measures=(by_place,)))
    said = replace(INTENT, expected_changes=(expected(-10, 10),))
    found = finding(Check.JUDGED_AS_DECLARED, said, catalog=world)
    assert found.severity is Severity.WARN
