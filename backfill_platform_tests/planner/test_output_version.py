"""Under which version a run publishes, where a table keeps every version of its output."""

from dataclasses import replace
from datetime import date

import pytest

from backfill_platform.domain.modes import PublishMode, VersionColumn
from backfill_platform.planner.facts import Facts
from backfill_platform_tests.planner.worlds import (
    FACTS,
    INTENT,
    NOW,
    make_world,
    plan,
    reasons,
    with_target,
)

NUMBERED = make_world(
    publish_mode=PublishMode.VERSIONED, version_column=VersionColumn.OUTPUT_VERSION
)
DATED = make_world(publish_mode=PublishMode.VERSIONED, version_column=VersionColumn.AS_OF_DATE)
SECOND, THIRD, MAY = date(2025, 3, 2), date(2025, 3, 3), date(2025, 5, 1)


def shows(**versions: str) -> Facts:
    """By the names of the days above."""
    days = {"second": SECOND, "third": THIRD, "may": MAY}
    held = {days[name]: version for name, version in versions.items()}
    return with_target(output_versions=held, fingerprints={day: f"files of {day}" for day in held})


def test_the_first_output_is_version_1() -> None:
    target = plan(catalog=NUMBERED, facts=shows()).target
    assert (target.version_column, target.output_version) == (VersionColumn.OUTPUT_VERSION, "1")


def test_a_number_follows_the_greatest_that_one_of_the_days_shows() -> None:
    facts = shows(second="9", third="10")
    assert plan(catalog=NUMBERED, facts=facts).target.output_version == "11"


def test_versions_of_other_days_do_not_count() -> None:
    assert plan(catalog=NUMBERED, facts=shows(second="3", may="7")).target.output_version == "4"


def test_output_is_as_of_the_day_of_planning_when_nothing_is_said() -> None:
    assert plan(catalog=DATED, facts=shows()).target.output_version == str(NOW.date())


def test_output_is_as_of_the_day_that_is_named() -> None:
    intent = replace(INTENT, as_of=date(2026, 6, 30))
    facts = shows(second="2026-06-29")
    assert plan(intent, catalog=DATED, facts=facts).target.output_version == "2026-06-30"


@pytest.mark.parametrize("shown", ["2026-06-30", "2026-07-01"])
def test_output_that_nobody_would_see_is_refused(shown: str) -> None:
    intent = replace(INTENT, as_of=date(2026, 6, 30))
    said = reasons(intent, catalog=DATED, facts=shows(second=shown, third="2026-06-01"))
    assert f"2025-03-02 of silver.cases shows output as of {shown} already" in said
    assert "output as of 2026-06-30 would not be seen behind it" in said
    assert "(`--as-of DATE`, today at the latest), or roll back the run" in said


def test_a_day_in_the_future_is_refused() -> None:
    said = reasons(replace(INTENT, as_of=date(2026, 7, 5)), catalog=DATED, facts=shows())
    assert "2026-07-05 lies in the future (today is 2026-07-04)" in said


@pytest.mark.parametrize("catalog", [NUMBERED, make_world()])
def test_a_day_for_a_table_that_keeps_nothing_by_day_is_refused(catalog) -> None:
    said = reasons(replace(INTENT, as_of=date(2026, 7, 1)), catalog=catalog)
    assert "cannot be published as of 2026-07-01; leave `--as-of` out" in said


def test_a_table_that_keeps_no_versions_has_none() -> None:
    target = plan(facts=FACTS).target
    assert (target.version_column, target.output_version) == (None, None)
