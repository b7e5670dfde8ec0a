"""What a plan says of classes, masks and deletion lists, and what it refuses."""

from dataclasses import replace

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.findings import Check, Severity
from backfill_platform.domain.modes import Classification
from backfill_platform.domain.privacy import Mask, PinnedDeletions, Privacy
from backfill_platform_tests.declarations import SOURCE
from backfill_platform_tests.planner.worlds import FACTS, finding, make_world, plan, reasons

RESTRICTED, INTERNAL = Classification.RESTRICTED, Classification.INTERNAL
LISTED = PinnedDeletions(name="landing.forgotten", digest="d", subjects=3)
SAID_OF_EACH = {"case_id": RESTRICTED, "amount": INTERNAL}


def below_its_source(classes: dict[str, Classification]) -> Catalog:
    masks = {name: Mask.SHA256 for name, own in classes.items() if own is RESTRICTED}
    return make_world(
        source=replace(SOURCE, classification=RESTRICTED),
        privacy=Privacy(column_classes=classes, masks=masks),
    )


def test_a_table_below_its_source_says_what_each_column_is():
    found = finding(Check.PRIVACY_ALLOWS, catalog=below_its_source(SAID_OF_EACH))
    assert found.severity is Severity.PASS
    assert found.message == (
        "every column has a class, since landing.events is above INTERNAL; masked: case_id (SHA256)"
    )


def test_a_column_of_which_nothing_is_said_does_not_leave_a_higher_source():
    said = reasons(catalog=below_its_source({"case_id": RESTRICTED}))
    assert "landing.events is RESTRICTED and silver.cases only INTERNAL" in said
    assert "(nothing is said of amount)" in said


def test_a_plan_pins_its_list_and_says_how_many_are_left_out():
    facts = replace(FACTS, deletions=LISTED)
    assert plan(facts=facts).deletions == LISTED
    found = finding(Check.PRIVACY_ALLOWS, facts=facts)
    assert "3 subjects of landing.forgotten are left out" in found.message


def test_a_list_that_has_shrunk_is_refused():
    said = reasons(facts=replace(FACTS, deletions=LISTED, left_out_before=4))
    assert "names 3 subjects and 4 were left out of what is accepted now; a list only grows" in said


def test_a_list_that_has_grown_is_no_hindrance():
    facts = replace(FACTS, deletions=LISTED, left_out_before=2)
    assert finding(Check.PRIVACY_ALLOWS, facts=facts).severity is Severity.PASS
