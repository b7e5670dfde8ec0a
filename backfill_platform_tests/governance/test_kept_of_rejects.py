"""Which columns of rows that were set aside may be kept."""

from dataclasses import replace

from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.modes import Classification
from backfill_platform.domain.privacy import Mask, Privacy
from backfill_platform.governance.privacy import kept_of_rejects
from backfill_platform_tests.readings import DECLARATIONS, READINGS

BRONZE, SILVER = DECLARATIONS.tables
CONTRACT = Contract(
    columns=tuple(
        Column(name=name, type="string", is_nullable=True)
        for name in ("day", "meter", "phone", "note")
    ),
    checks=(),
)
MASKING = replace(
    SILVER,
    privacy=Privacy(
        column_classes={
            "meter": Classification.RESTRICTED,
            "phone": Classification.RESTRICTED,
            "note": Classification.PUBLIC,
        },
        masks={"meter": Mask.SHA256, "phone": Mask.LAST_FOUR},
    ),
)


def test_everything_is_kept_where_nothing_is_private() -> None:
    assert kept_of_rejects(SILVER, CONTRACT, (BRONZE, READINGS)) is None


def test_a_masked_column_is_kept_only_where_it_still_tells_rows_apart() -> None:
    assert kept_of_rejects(MASKING, CONTRACT, (BRONZE,)) == {"day", "meter", "note"}


def test_only_declared_columns_are_kept_below_an_input_with_private_columns() -> None:
    assert kept_of_rejects(SILVER, CONTRACT, (MASKING,)) == set(CONTRACT.column_names)


def test_only_declared_columns_are_kept_below_a_source_of_a_higher_class() -> None:
    source = replace(READINGS, classification=Classification.RESTRICTED)
    assert kept_of_rejects(BRONZE, CONTRACT, (source,)) == set(CONTRACT.column_names)
