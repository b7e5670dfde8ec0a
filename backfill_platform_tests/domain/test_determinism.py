"""Floating columns: declared with the places that they are rounded to, or refused."""

from dataclasses import replace
from typing import Any

import pytest

from backfill_platform.domain.catalog import Declarations, build_catalog
from backfill_platform.domain.contracts import Column
from backfill_platform.domain.determinism import Cause, Sighting, round_floats
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.quality import Quality
from backfill_platform_tests.declarations import SCHEMA, SOURCE, make_table


def declare(kind: str = "double", **decimal_places: int) -> Any:
    """A table with a column `ratio` of this type."""
    ratio = Column(name="ratio", type=kind, is_nullable=True)
    contract = replace(SCHEMA, columns=(*SCHEMA.columns, ratio))
    spec = make_table(quality=Quality(decimal_places=decimal_places))
    declared = Declarations(sources=(SOURCE,), references=(), tables=(spec,))
    catalog = build_catalog(declared, lambda _: contract)
    return catalog.tables[spec.full_name]


@pytest.mark.parametrize("kind", ["float", "double"])
def test_a_floating_column_without_decimal_places_is_refused(kind: str) -> None:
    with pytest.raises(DeclarationInvalid, match=r"'ratio' is a .*decimal_places.*or declare the"):
        declare(kind)


def test_a_decimal_column_needs_none() -> None:
    assert round_floats(declare("decimal(12,2)")) == {}


def test_a_floating_column_is_rounded_to_its_places() -> None:
    assert round_floats(declare(ratio=2)) == {"ratio": "round(`ratio`, 2)"}


def test_places_of_a_column_that_is_not_floating_are_refused() -> None:
    with pytest.raises(DeclarationInvalid, match="'amount' is no float or double"):
        declare(ratio=2, amount=1)


@pytest.mark.parametrize(("kind", "places"), [("double", 16), ("float", 7), ("double", -1)])
def test_more_places_than_the_type_keeps_are_refused(kind: str, places: int) -> None:
    with pytest.raises(DeclarationInvalid, match=f"'ratio': {places} places"):
        declare(kind, ratio=places)


def test_a_sighting_says_where_what_why_and_what_to_do_instead() -> None:
    seen = Sighting(cause=Cause.CLOCK, expression="now()", where="column 'at'", why="always")
    assert str(seen).startswith("column 'at': `now()` reads the clock (always); take context.run_")
