"""How long files stay, as the policy says it; nonsense is refused with its place."""

import pytest

from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.retirements import Retention
from backfill_platform.governance.policy_file import read_policy
from backfill_platform_tests.governance.samples import POLICY, POLICY_TEXT, SHIPPED

GIVEN = "{abandoned_after_days: 7, superseded_after_days: 30}"


def retention(given: str) -> Retention | None:
    text = f"{POLICY_TEXT}retention: {given}\n"
    return read_policy(text, origin="governance.yaml").retention


def refusal(given: str) -> str:
    with pytest.raises(DeclarationInvalid) as refused:
        retention(given)
    return str(refused.value)


def test_it_is_read_as_it_is_written() -> None:
    assert retention(GIVEN) == Retention(abandoned_after_days=7, superseded_after_days=30)


def test_a_policy_that_says_nothing_lets_nothing_go() -> None:
    assert POLICY.retention is None


def test_the_shipped_policy_says_how_long_files_stay() -> None:
    assert read_policy(SHIPPED.read_text(), origin="governance.yaml").retention == Retention(
        abandoned_after_days=7, superseded_after_days=30
    )


def test_tables_of_which_nothing_goes_are_named() -> None:
    given = GIVEN[:-1] + ", tables: {gold.b: {keep: true}, gold.a: {keep: true}}}"
    kept = retention(given)
    assert kept is not None
    assert kept.kept_tables == ("gold.a", "gold.b")


def test_a_table_that_is_no_longer_kept_is_not_named() -> None:
    kept = retention(GIVEN[:-1] + ", tables: {gold.a: {keep: false}}}")
    assert kept is not None
    assert kept.kept_tables == ()


def test_it_is_part_of_the_policys_digest() -> None:
    text = f"{POLICY_TEXT}retention: {GIVEN}\n"
    assert read_policy(text, origin="governance.yaml").digest != POLICY.digest


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            GIVEN.replace("7", "0"),
            "retention.abandoned_after_days: Input should be greater than or equal to 1 (it is 0)",
        ),
        (
            GIVEN.replace("30", "-1"),
            "retention.superseded_after_days: Input should be greater than or equal to 1 (it is "
            "-1)",
        ),
        (
            GIVEN.replace("30", "99999999"),
            "retention.superseded_after_days: Input should be less than or equal to 36500 (it is "
            "99999999)",
        ),
        (
            "{abandoned_after_days: 7}",
            "retention.superseded_after_days: is missing",
        ),
        (
            GIVEN.replace("7", "7.5"),
            "retention.abandoned_after_days: Input should be a valid integer (it is "
            "Decimal('7.5'))",
        ),
        (
            GIVEN[:-1] + ", forever: true}",
            "retention.forever: is not known here; correct it, or remove it",
        ),
        (
            GIVEN[:-1] + ", tables: {gold.a: {keep: yes}}}",
            "retention.tables.gold.a.keep: Input should be a valid boolean (it is 'yes')",
        ),
    ],
)
def test_nonsense_is_refused_with_its_place(given: str, expected: str) -> None:
    assert refusal(given) == f"governance.yaml, line 14: {expected}"
