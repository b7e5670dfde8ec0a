"""The shipped policy gives the matrix of the requirement; conditions mean what they say."""

from dataclasses import replace
from decimal import Decimal

import pytest

from backfill_platform.domain.approvals import ConsentPoint
from backfill_platform.domain.estimates import CostRate
from backfill_platform.domain.limits import NO_LIMITS
from backfill_platform.domain.modes import RunKind
from backfill_platform.governance.conditions import ANYTHING, Conditions
from backfill_platform.governance.policy import require_approvals
from backfill_platform.governance.policy_file import read_policy
from backfill_platform_tests.governance.samples import POLICY, SHIPPED, change

MATRIX = read_policy(SHIPPED.read_text(), origin="governance.yaml")


@pytest.mark.parametrize(
    ("proposed", "rule", "roles", "before", "signed"),
    [
        (change(partitions=2), "fewer-than-7-days", ("team-lead",), "PUBLICATION", False),
        (change(partitions=6), "fewer-than-7-days", ("team-lead",), "PUBLICATION", False),
        (change(partitions=7), "7-to-30-days", ("data-engineering-lead",), "PUBLICATION", False),
        (change(partitions=30), "7-to-30-days", ("data-engineering-lead",), "PUBLICATION", False),
        (
            change(partitions=31),
            "more-than-30-days",
            ("manager", "data-engineering-lead"),
            "STAGING",
            True,
        ),
        (
            change(partitions=200),
            "more-than-30-days",
            ("manager", "data-engineering-lead"),
            "STAGING",
            True,
        ),
        (
            change(partitions=2, is_full=True),
            "full-reprocessing",
            ("director",),
            "STAGING",
            True,
        ),
        (
            change(partitions=200, kind=RunKind.ROLLBACK),
            "rollback",
            ("incident",),
            "PUBLICATION",
            False,
        ),
        (
            change(partitions=200, kind=RunKind.LIVE, replaces_accepted=False),
            "live",
            (),
            "PUBLICATION",
            False,
        ),
        (
            change(partitions=2, kind=RunKind.LIVE, replaces_accepted=True),
            "fewer-than-7-days",
            ("team-lead",),
            "PUBLICATION",
            False,
        ),
    ],
    ids=["2", "6", "7", "30", "31", "200", "full", "rollback", "live", "live that replaces"],
)
def test_the_shipped_policy_asks_whom_the_matrix_names(proposed, rule, roles, before, signed):
    asked = require_approvals(MATRIX, proposed)
    assert (asked.rule, asked.roles, asked.before, asked.signed) == (
        rule,
        roles,
        ConsentPoint(before),
        signed,
    )


def test_the_shipped_policy_asks_to_say_until_when_a_full_reprocessing_changes_numbers():
    notes = require_approvals(MATRIX, change(is_full=True)).notify
    assert [note for note in notes if note.startswith("SLA:")] != []


def test_telling_others_of_a_few_days_is_optional():
    assert require_approvals(MATRIX, change(partitions=2)).notify == (
        "data engineering (optional)",
    )


def test_a_rollback_can_always_be_approved_by_somebody_who_did_not_ask_for_it():
    assert len(MATRIX.holders("incident")) >= 2


def test_the_shipped_rates_are_those_of_the_requirement():
    assert MATRIX.rates == {
        "bronze": CostRate(low=Decimal("0.50"), high=Decimal("2.00")),
        "silver": CostRate(low=Decimal("1.00"), high=Decimal("3.00")),
        "gold": CostRate(low=Decimal("0.50"), high=Decimal("1.50")),
        "default": CostRate(low=Decimal("0.50"), high=Decimal("3.00")),
    }


def test_the_shipped_policy_sets_no_limits():
    assert (MATRIX.limits, MATRIX.plan_valid_hours) == (NO_LIMITS, 72)


@pytest.mark.parametrize(
    ("conditions", "met_by", "not_met_by"),
    [
        (Conditions(partitions_over=30), change(partitions=31), change(partitions=30)),
        (Conditions(partitions_under=7), change(partitions=6), change(partitions=7)),
        (Conditions(is_full=True), change(is_full=True), change(is_full=False)),
        (Conditions(is_full=False), change(is_full=False), change(is_full=True)),
        (Conditions(tables=("gold.*",)), change(table="gold.a"), change(table="silver.gold.a")),
        (Conditions(tables=("gold.a",)), change(table="gold.a"), change(table="gold.ab")),
        (Conditions(layers=("gold",)), change(layer="gold"), change(layer="silver")),
        (
            Conditions(kinds=(RunKind.REPAIR,)),
            change(kind=RunKind.REPAIR),
            change(kind=RunKind.REPLAY),
        ),
        (Conditions(rows_over=10), change(rows_read=11), change(rows_read=10)),
        (
            Conditions(cost_over_usd=Decimal("0.5")),
            change(cost_usd=Decimal("0.51")),
            change(cost_usd=Decimal("0.50")),
        ),
        (
            Conditions(replaces_accepted=False),
            change(replaces_accepted=False),
            change(replaces_accepted=True),
        ),
        (
            Conditions(partitions_over=6, layers=("gold",)),
            change(partitions=7, layer="gold"),
            change(partitions=7, layer="silver"),
        ),
    ],
)
def test_a_condition_holds_for_the_one_change_and_not_for_the_other(conditions, met_by, not_met_by):
    assert (conditions.are_met_by(met_by), conditions.are_met_by(not_met_by)) == (True, False)


def test_the_first_rule_that_matches_decides():
    rule = POLICY.rules[0]
    gold = replace(rule, name="gold", conditions=Conditions(layers=("gold",)))
    policy = replace(POLICY, rules=(gold, rule))
    assert require_approvals(policy, change(layer="gold")).rule == "gold"
    assert require_approvals(policy, change(layer="silver")).rule == "all"


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (Conditions(partitions_over=7), Conditions(partitions_over=30)),
        (Conditions(partitions_under=30), Conditions(partitions_under=7)),
        (Conditions(tables=("gold.*",)), Conditions(tables=("gold.a", "gold.b"))),
        (Conditions(layers=("gold", "silver")), Conditions(layers=("gold",), is_full=True)),
        (Conditions(cost_over_usd=Decimal(5)), Conditions(cost_over_usd=Decimal(9))),
        (ANYTHING, Conditions(replaces_accepted=True)),
    ],
)
def test_wide_conditions_cover_narrow_ones_and_not_the_other_way_round(wide, narrow):
    assert (wide.cover(narrow), narrow.cover(wide)) == (True, False)


def test_a_pattern_is_not_taken_for_a_table_of_that_name():
    assert not Conditions(tables=("gold.?",)).cover(Conditions(tables=("gold.*",)))
