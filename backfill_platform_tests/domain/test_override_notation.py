"""How a run is judged otherwise than its table is written, or a sentence that shows how."""

from decimal import Decimal

import pytest

from backfill_platform.domain.override_notation import (
    parse_expected,
    parse_list,
    parse_severity,
    parse_tolerance,
    severities_by_gate,
    tolerances_by_measure,
)
from backfill_platform.domain.quality import ExpectedChange, Tolerance
from backfill_platform.domain.verdicts import Gate, GateSeverity


@pytest.mark.parametrize("text", ["values_valid=WARN", "VALUES_VALID=warn", " values_valid = WARN"])
def test_a_severity_is_a_gate_and_what_follows(text: str):
    assert parse_severity(text) == (Gate.VALUES_VALID, GateSeverity.WARN)


@pytest.mark.parametrize(
    ("text", "tolerance"),
    [
        ("rows=2", Tolerance(absolute=Decimal(2))),
        ("rows=0.5%", Tolerance(percent=Decimal("0.5"))),
        ("rows=0", Tolerance()),
    ],
)
def test_a_tolerance_is_a_number_or_a_share(text: str, tolerance: Tolerance):
    assert parse_tolerance(text) == ("rows", tolerance)


def test_an_expected_change_goes_from_its_lower_end_to_its_upper_end():
    assert parse_expected("breaches=-90%..-60.5%") == ExpectedChange(
        measure="breaches", least_percent=Decimal(-90), most_percent=Decimal("-60.5")
    )


@pytest.mark.parametrize("text", ["values_valid", "values_valid=", "=WARN", "valid=WARN", "a=MILD"])
def test_what_names_no_gate_with_its_severity_is_answered_with_how_to_write_it(text: str):
    with pytest.raises(ValueError, match=r"GATE=SEVERITY|gates are partitions_complete"):
        parse_severity(text)


@pytest.mark.parametrize("text", ["rows", "rows=", "=2", "rows=few", "rows=%", "rows=NaN"])
def test_what_is_no_tolerance_is_answered_with_how_to_write_it(text: str):
    with pytest.raises(ValueError, match=r"write MEASURE=2 or MEASURE=0\.5%"):
        parse_tolerance(text)


@pytest.mark.parametrize(
    "text", ["breaches", "breaches=-60%", "breaches=-90..-60", "breaches=a%..b%", "=-90%..-60%"]
)
def test_what_is_no_expected_change_is_answered_with_how_to_write_it(text: str):
    with pytest.raises(ValueError, match=r"write MEASURE=-90%\.\.-60%"):
        parse_expected(text)


def test_a_tag_names_several_with_commas_between():
    assert parse_list("values_valid=WARN, reconciled=HOLD,", parse_severity) == (
        (Gate.VALUES_VALID, GateSeverity.WARN),
        (Gate.RECONCILED, GateSeverity.HOLD),
    )


def test_a_tag_that_is_not_there_says_nothing():
    assert parse_list("", parse_tolerance) == ()


def test_one_gate_has_one_severity():
    with pytest.raises(ValueError, match="values_valid is said twice"):
        severities_by_gate(parse_list("values_valid=WARN,values_valid=HOLD", parse_severity))


def test_one_measure_has_one_tolerance():
    with pytest.raises(ValueError, match="rows is said twice"):
        tolerances_by_measure(parse_list("rows=2,rows=1%", parse_tolerance))
