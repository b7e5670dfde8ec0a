"""`backfill validate --rows`: some of the rows for which a gate did not pass."""

import pytest

from backfill_platform.domain.failing_rows import FailingRow
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.verdicts import Gate
from backfill_platform.engine.platform import Platform
from backfill_platform.validator.failing import replace_failing
from backfill_platform_tests.cli.conftest import Call
from backfill_platform_tests.readings import BRONZE


@pytest.fixture
def kept(platform: Platform, planned: Manifest) -> tuple[FailingRow, ...]:
    """Five failing rows of the run's first day."""
    days = planned.target.partitions.span
    rows = tuple(
        FailingRow(
            day=days.start,
            gate=Gate.VALUES_VALID,
            check="amount_greater_than",
            key={"meter": f"[b]{meter}"},
            found={"amount": None},
        )
        for meter in range(5)
    )
    replace_failing(platform.warehouse.failing_path(BRONZE, planned.run_id), days, rows)
    return rows


def test_the_first_failing_rows_of_each_check_are_shown_as_they_are(
    call: Call, planned: Manifest, kept: tuple[FailingRow, ...]
) -> None:
    said = " ".join(call("validate", planned.run_id, "--rows").stdout.split())
    assert "amount_greater_than meter=[b]0 amount=null" in said
    assert "meter=[b]3" not in said
    assert "and 2 more beside the run" in said


def test_programs_get_every_failing_row(
    call: Call, planned: Manifest, kept: tuple[FailingRow, ...]
) -> None:
    found = call("validate", planned.run_id, "--rows", "--json").document["rows"]
    assert found == [to_plain(row) for row in kept]


def test_rows_are_not_read_unless_they_are_asked_for(
    call: Call, planned: Manifest, kept: tuple[FailingRow, ...]
) -> None:
    assert "rows" not in call("validate", planned.run_id, "--json").document


def test_it_is_said_where_no_failing_row_is_kept(call: Call, planned: Manifest) -> None:
    said = " ".join(call("validate", planned.run_id, "--rows").stdout.split())
    assert "no failing row is kept" in said
