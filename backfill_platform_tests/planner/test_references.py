"""Which version of reference data a run pins, by what it is to stand for."""

from dataclasses import replace

import pytest

from backfill_platform.domain.intents import Intent, ReferenceChoice
from backfill_platform.domain.modes import ReferenceSemantics
from backfill_platform_tests.planner.worlds import (
    FACTS,
    INTENT,
    USES_CALENDAR,
    days,
    make_world,
    plan,
    reasons,
)

CATALOG = make_world(references=USES_CALENDAR)
S = ReferenceSemantics


def asking(
    semantics: ReferenceSemantics, version: str | None = None, first: str = "2025-03-21"
) -> Intent:
    choice = ReferenceChoice(version=version, semantics=semantics)
    return replace(INTENT, days=days(first, "2025-03-31"), references={"calendar": choice})


def used_before(*versions: str):
    return replace(FACTS, original_references={"calendar": frozenset(versions)})


def chosen(intent: Intent, facts=FACTS) -> tuple[str, str]:
    pinned = plan(intent, catalog=CATALOG, facts=facts).references[0]
    return pinned.version, pinned.digest


def test_nothing_said_means_what_the_table_ordinarily_uses():
    assert chosen(INTENT) == ("restated", "restatedrestated")


def test_a_named_version_is_taken_as_it_is():
    assert chosen(asking(S.CORRECTED_TRUTH, "winter")) == ("winter", "winterwinter")


@pytest.mark.parametrize(("first", "version"), [("2025-03-21", "spring"), ("2025-03-20", "spring")])
def test_as_recorded_then_takes_the_newest_of_the_first_day(first, version):
    assert chosen(asking(S.AS_RECORDED_THEN, first=first))[0] == version


def test_as_recorded_then_is_refused_where_the_version_changed_within_the_range():
    said = reasons(asking(S.AS_RECORDED_THEN, first="2025-03-01"), catalog=CATALOG)
    assert "(spring on 2025-03-20)" in said
    assert "plan [2025-03-01..2025-03-19] and [2025-03-20..2025-03-31] apart" in said


def test_a_version_that_was_recorded_on_the_last_day_splits_it_off():
    choice = ReferenceChoice(version=None, semantics=S.AS_RECORDED_THEN)
    intent = replace(INTENT, days=days("2025-03-18", "2025-03-20"), references={"calendar": choice})
    said = reasons(intent, catalog=CATALOG)
    assert "plan [2025-03-18..2025-03-19] and [2025-03-20] apart" in said


def test_as_recorded_then_is_refused_before_the_first_version():
    said = reasons(asking(S.AS_RECORDED_THEN, first="2025-01-14"), catalog=CATALOG)
    assert "had no version on 2025-01-14; the first, winter, was recorded on 2025-01-15" in said


def test_the_version_of_the_original_is_what_its_run_used():
    assert chosen(asking(S.AS_USED_BY_ORIGINAL), used_before("winter"))[0] == "winter"


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (FACTS, "used no version of"),
        (used_before("winter", "spring"), "used several versions: spring, winter of"),
        (used_before("gone"), "used gone of reference data 'calendar', which is no longer"),
    ],
    ids=["none", "several", "undeclared"],
)
def test_the_version_of_the_original_is_refused_where_there_is_not_exactly_one(facts, said):
    assert said in reasons(asking(S.AS_USED_BY_ORIGINAL), catalog=CATALOG, facts=facts)


def test_current_is_the_newest_that_is_recorded_by_now():
    assert chosen(asking(S.CURRENT))[0] == "restated"


def test_the_corrected_truth_has_to_be_named():
    said = reasons(asking(S.CORRECTED_TRUTH), catalog=CATALOG)
    assert "name one of winter, spring, restated, next" in said


def test_an_unknown_version_is_refused_once_with_the_known_ones():
    said = reasons(asking(S.CURRENT, "summer"), catalog=CATALOG)
    assert said == (
        "reference data 'calendar' has no version 'summer'; it has winter, spring, restated, next"
    )


def test_reference_data_that_the_table_does_not_use_is_refused():
    assert "silver.cases does not use reference data 'calendar'" in reasons(asking(S.CURRENT))
