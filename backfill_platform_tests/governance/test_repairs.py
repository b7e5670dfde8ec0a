"""What may be repaired unattended, as the policy says it; nonsense is refused with its place."""

from decimal import Decimal

import pytest

from backfill_platform.domain.approvals import ProposedChange
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.gaps import GapKind
from backfill_platform.domain.limits import DailyWindow
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.repairs import RepairRules
from backfill_platform.governance.policy import require_approvals
from backfill_platform.governance.policy_file import read_policy
from backfill_platform_tests.governance.samples import POLICY, POLICY_TEXT, SHIPPED

GIVEN = (
    "{requested_by: gap-repair, tables: ['gold.*'], kinds: [LATE_DATA, INPUT_AHEAD], "
    "max_days_per_run: 7, attempts: 3, back_off_minutes: 15, runs_per_hour: 6, "
    "rows_per_day: 1000, cost_usd_per_day: 2.50, settle_hours: 6, patience_minutes: 5, "
    "quiet_hours: {start: 22:00, end: 06:00}}"
)


def repairs(given: str) -> RepairRules | None:
    return read_policy(f"{POLICY_TEXT}repairs: {given}\n", origin="governance.yaml").repairs


def test_it_is_read_as_it_is_written() -> None:
    assert repairs(GIVEN) == RepairRules(
        requested_by="gap-repair",
        tables=("gold.*",),
        kinds=(GapKind.INPUT_AHEAD, GapKind.LATE_DATA),
        max_days_per_run=7,
        attempts=3,
        back_off_minutes=15,
        runs_per_hour=6,
        rows_per_day=1_000,
        cost_usd_per_day=Decimal("2.5"),
        quiet_hours=DailyWindow(start="22:00", end="06:00"),
        settle_hours=6,
        patience_minutes=5,
    )


def test_a_policy_that_says_nothing_lets_nothing_be_repaired() -> None:
    assert POLICY.repairs is None


def test_it_is_part_of_the_policys_digest() -> None:
    text = f"{POLICY_TEXT}repairs: {GIVEN}\n"
    assert read_policy(text, origin="governance.yaml").digest != POLICY.digest


@pytest.mark.parametrize(
    ("wrong", "instead", "expected"),
    [
        ("LATE_DATA", "LATE", "repairs.kinds.0: Input should be 'MISSING_PARTITION'"),
        ("LATE_DATA", "INPUT_MISSING", "repairs: names INPUT_MISSING among the kinds"),
        ("attempts: 3", "attempts: 0", "repairs.attempts: Input should be greater than or equal"),
        ("attempts: 3, ", "", "repairs.attempts: is missing"),
        ("'gold.*'", "", "repairs.tables: "),
        ("22:00", "06:00", "repairs.quiet_hours: has to end at another time"),
        ("rows_per_day: 1000, cost_usd_per_day: 2.50, ", "", "repairs: says no budget"),
        ("settle_hours", "settle_days", "repairs.settle_days: is not known here"),
        ("gap-repair", "Gap Repair", "repairs.requested_by: String should match"),
    ],
)
def test_nonsense_is_refused_with_its_place(wrong: str, instead: str, expected: str) -> None:
    with pytest.raises(DeclarationInvalid) as refused:
        repairs(GIVEN.replace(wrong, instead))
    assert str(refused.value).startswith(f"governance.yaml, line 14: {expected}")


@pytest.mark.parametrize(
    ("partitions", "replaces", "rule"),
    [
        (7, False, "small-repair"),
        (8, False, "7-to-30-days"),
        (3, True, "fewer-than-7-days"),
    ],
)
def test_as_shipped_only_small_repairs_that_fill_ask_nobody(partitions, replaces, rule) -> None:
    shipped = read_policy(SHIPPED.read_text(), origin="governance.yaml")
    change = ProposedChange(
        table="bronze.case_events",
        layer="bronze",
        kind=RunKind.REPAIR,
        partitions=partitions,
        is_full=False,
        rows_read=1,
        cost_usd=Decimal(0),
        replaces_accepted=replaces,
    )
    assert require_approvals(shipped, change).rule == rule


def test_as_shipped_a_repair_that_fills_is_small_enough_to_ask_nobody() -> None:
    shipped = read_policy(SHIPPED.read_text(), origin="governance.yaml").repairs
    assert shipped is not None
    assert (shipped.requested_by, shipped.max_days_per_run) == ("gap-repair", 7)
