"""What is typed becomes a value, or a sentence that shows how to write it."""

from decimal import Decimal

import pytest
import typer

from backfill_platform.cli.plan_options import (
    parse_money,
    parse_publish_scope,
    parse_reference,
    parse_scope,
    parse_window,
)
from backfill_platform.domain.intents import ReferenceChoice
from backfill_platform.domain.limits import DailyWindow
from backfill_platform.domain.modes import PublishScope, ReferenceSemantics


@pytest.mark.parametrize(
    ("text", "version", "semantics"),
    [
        ("calendar=v1:CURRENT", "v1", ReferenceSemantics.CURRENT),
        ("calendar=v1:current", "v1", ReferenceSemantics.CURRENT),
        ("calendar=v1", "v1", ReferenceSemantics.CORRECTED_TRUTH),
        ("calendar=:AS_USED_BY_ORIGINAL", None, ReferenceSemantics.AS_USED_BY_ORIGINAL),
    ],
)
def test_a_reference_is_a_version_and_what_it_stands_for(text, version, semantics):
    assert parse_reference(text) == (
        "calendar",
        ReferenceChoice(version=version, semantics=semantics),
    )


@pytest.mark.parametrize("text", ["calendar", "calendar=", "=v1:CURRENT", "calendar=v1:TRUE"])
def test_a_reference_that_says_too_little_is_refused(text):
    with pytest.raises(typer.BadParameter):
        parse_reference(text)


def test_an_amount_stays_exact():
    assert parse_money("12.10") == Decimal("12.10")


@pytest.mark.parametrize("text", ["much", "NaN", "Infinity", ""])
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(typer.BadParameter, match="no amount"):
        parse_money(text)


def test_a_window_may_go_past_midnight():
    assert parse_window("22:00-06:00") == DailyWindow(start="22:00", end="06:00")


def test_days_that_end_before_they_start_are_told_how_to_be_written():
    with pytest.raises(typer.BadParameter, match=r"2025-01-01\.\.2025-01-02"):
        parse_scope("2025-01-02..2025-01-01")


@pytest.mark.parametrize("text", ["whole-run", "WHOLE_RUN", "whole_run"])
def test_a_publish_scope_is_written_as_on_the_command_line_or_as_in_a_manifest(text):
    assert parse_publish_scope(text) is PublishScope.WHOLE_RUN


def test_an_unknown_publish_scope_is_refused_with_the_known_ones():
    with pytest.raises(typer.BadParameter, match="progressive, whole-run, dual-read, dark"):
        parse_publish_scope("half")
