"""Frozen values become plain documents and come back as they were, or are refused."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.plain import from_plain, to_plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    number: int
    amount: Decimal | None
    at: datetime
    kind: RunKind
    days: PartitionSet
    names: tuple[str, ...]


NOON = datetime(2026, 7, 4, 12, tzinfo=UTC)
THING = Thing(
    number=1,
    amount=Decimal("1.50"),
    at=NOON,
    kind=RunKind.REPAIR,
    days=PartitionSet.of_days([date(2025, 1, 1)]),
    names=("a", "b"),
)
DOCUMENT = {
    "number": 1,
    "amount": "1.5",
    "at": "2026-07-04T12:00:00+00:00",
    "kind": "REPAIR",
    "days": {"ranges": [{"start": "2025-01-01", "end_exclusive": "2025-01-02"}]},
    "names": ["a", "b"],
}


def test_a_value_is_written_field_by_field():
    assert to_plain(THING) == DOCUMENT


def test_a_document_is_read_back_as_the_value_that_it_was():
    assert from_plain(Thing, DOCUMENT) == THING


def test_equal_instants_of_two_zones_are_one_text():
    bangkok = NOON.astimezone(timezone(timedelta(hours=7)))
    assert to_plain(bangkok) == to_plain(NOON)


def test_an_instant_without_a_zone_is_not_written():
    with pytest.raises(ValueError, match="is no instant without a time zone"):
        to_plain(NOON.replace(tzinfo=None))


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_an_amount_comes_back_equal_however_many_digits_it_has(amount: Decimal):
    assert from_plain(Decimal, to_plain(amount)) == amount


@pytest.mark.parametrize(
    ("amount", "text"),
    [("1.500", "1.5"), ("1E+2", "100"), ("100", "100"), ("-0.00", "0"), ("0.000001", "0.000001")],
)
def test_equal_amounts_are_one_text(amount, text):
    assert to_plain(Decimal(amount)) == text


@pytest.mark.parametrize("amount", ["NaN", "Infinity"])
def test_what_is_no_amount_is_not_written(amount):
    with pytest.raises(ValueError, match="is no amount"):
        to_plain(Decimal(amount))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("number", True),
        ("number", "1"),
        ("number", None),
        ("amount", 1.5),
        ("amount", "one"),
        ("at", "2026-07-04T12:00:00"),
        ("kind", "REPAIRED"),
        ("days", {"ranges": []}),
        ("days", []),
        ("names", "ab"),
        ("names", [1]),
    ],
)
def test_a_field_of_another_type_is_refused(field, value):
    with pytest.raises((TypeError, ValueError)):
        from_plain(Thing, DOCUMENT | {field: value})


def test_an_unknown_and_a_missing_field_are_refused_by_name():
    renamed = {("count" if name == "number" else name): value for name, value in DOCUMENT.items()}
    with pytest.raises(ValueError, match="it differs in count, number"):
        from_plain(Thing, renamed)
