"""The digest over what output is judged by moves with each of it, and with nothing else."""

import subprocess
import sys
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from backfill_platform.domain.quality import (
    ChangeBound,
    GoldenFigure,
    InstantBound,
    Measure,
    Quality,
    Relation,
    Tolerance,
    WatermarkPolicy,
)
from backfill_platform.domain.quality_digest import quality_digest
from backfill_platform.domain.tables import Reconciliation
from backfill_platform.domain.verdicts import Gate, GateSeverity
from backfill_platform_tests.declarations import make_table, nothing


def known_places(*_given: Any) -> list[str]:
    return []


def other_places(*_given: Any) -> list[str]:
    return []


PLACES = Relation(name="places", columns=("place",), to="calendar", known=known_places)
QUALITY = Quality(relations=(PLACES,), tolerances={"a": Tolerance(), "b": Tolerance()})


def digest(quality: Quality = QUALITY, **changes: Any) -> str:
    return quality_digest(make_table(quality=quality, **changes))


@pytest.mark.parametrize(
    "change",
    [
        {"rows_least": 2},
        {"rows_most": 9},
        {"rejects_most": 1},
        {"relations": (replace(PLACES, known=other_places),)},
        {"relations": (replace(PLACES, known=partial(known_places, "EU")),)},
        {"instants": (InstantBound(column="at", earliest=timedelta(0), latest=timedelta(days=1)),)},
        {"measures": (Measure(name="a", expression="count(1)"),)},
        {
            "golden": (
                GoldenFigure(day=date(2025, 1, 1), measure="a", figure=Decimal(1), origin="r"),
            )
        },
        {"changes": (ChangeBound(measure="a", fall_percent=Decimal(1), rise_percent=Decimal(1)),)},
        {"late_rows": Tolerance()},
        {"tolerances": {"a": Tolerance(absolute=Decimal(1)), "b": Tolerance()}},
        {"severities": {Gate.RECONCILED: GateSeverity.HOLD}},
        {"watched_keys": ({"case_id": "c-1"},)},
        {"decimal_places": {"amount": 2}},
        {"watermark": WatermarkPolicy.BY_COMPLETE_WINDOW},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_digest_moves_with_everything_that_quality_declares(change: dict[str, Any]):
    assert digest(replace(QUALITY, **change)) != digest()


@pytest.mark.parametrize(
    "change",
    [
        {"may_be_empty": True},
        {"keys": ("day",)},
        {"reconciliation": Reconciliation(from_inputs=nothing, from_output={"rows": "sum(1)"})},
        {"reconciliation": Reconciliation(from_inputs=known_places, from_output={})},
    ],
    ids=["empty", "keys", "output", "inputs"],
)
def test_the_digest_moves_with_what_else_a_table_is_judged_by(change: dict[str, Any]):
    assert digest(**change) != digest()


def test_what_nothing_is_judged_by_leaves_the_digest_alone():
    assert digest(description="other", chunk_days=3, fresh_within_hours=9) == digest()


def test_the_order_of_a_mapping_leaves_the_digest_alone():
    turned = {"b": Tolerance(), "a": Tolerance()}
    assert digest(replace(QUALITY, tolerances=turned)) == digest()


def test_the_digest_is_the_same_in_every_process():
    """Text of a function, of an object that is bound to one, or of a set would not be."""
    program = (
        "from functools import partial\n"
        "from backfill_platform.domain.quality_digest import quality_digest\n"
        "from backfill_platform.domain.tables import Reconciliation\n"
        "from backfill_platform_tests.declarations import make_table, nothing\n"
        "bound = partial(nothing, make_table(), object(), frozenset('abcdef'))\n"
        "table = make_table(reconciliation=Reconciliation(from_inputs=bound, from_output={}))\n"
        "print(quality_digest(table))\n"
    )
    told = [subprocess.check_output([sys.executable, "-c", program]) for _ in range(2)]
    assert told[0] == told[1]
