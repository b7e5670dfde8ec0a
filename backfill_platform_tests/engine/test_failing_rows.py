"""Rows for which a gate did not pass can be looked at: on real Spark, read without it."""

from dataclasses import replace

import pytest

from backfill_platform.domain.errors import LostRace
from backfill_platform.domain.failing_rows import NOT_SHOWN, SHOWN_OF_EACH, FailingRow
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.verdicts import Gate
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.look.failing import read_failing
from backfill_platform_tests.aside import SUSPECT
from backfill_platform_tests.readings import land, week

DAYS = week(days=2)
FIRST, SECOND = DAYS


@pytest.fixture
def declared():
    return "backfill_platform_tests.aside:DECLARATIONS"


@pytest.fixture
def opened(platform, intent):
    """Everything is wrong on the first day, and nothing on the second."""
    wrong = [("a", 1), ("a", 1), ("b", 2), ("c", -1), ("d", None), ("e", 99)]
    land(platform.landing, [FIRST], wrong)
    land(platform.landing, [SECOND], [("a", 1)])
    return open_run(platform, intent(SUSPECT, DAYS, "suspect"))


def failing(platform, manifest):
    return read_failing(platform, manifest.run_id, PartitionSet.of_range(DAYS))


def row(gate, check, key, **found):
    return FailingRow(day=FIRST, gate=gate, check=check, key={"meter": key}, found=found)


REPEATED = row(Gate.KEY_UNIQUE, "repeated key", "a", **{"rows with this key": "2"})
SAME_AMOUNT = row(Gate.VALUES_VALID, "unique(meter, amount)", "a", meter="a", amount="1")


def test_failing_rows_are_shown_by_gate_and_check_without_what_is_private(platform, spark, opened):
    stage_chunk(platform, spark, opened.run_id, DAYS)
    assert failing(platform, opened) == (
        row(Gate.REJECTS_BOUNDED, "full", "e", amount="99"),
        REPEATED,
        REPEATED,
        row(Gate.VALUES_VALID, "amount_greater_than_or_equal_to", "c", amount="-1"),
        row(Gate.VALUES_VALID, "nulls in amount", "d", amount=None),
        row(Gate.VALUES_VALID, "phone_str_length", "b", phone=NOT_SHOWN),
        SAME_AMOUNT,
        SAME_AMOUNT,
        row(Gate.RELATIONS_KEPT, "known partner", "b", partner="nobody"),
        row(Gate.INSTANTS_BOUNDED, "read_at", "c", read_at="2024-12-31 23:00:00"),
    )


class DyingLedger:
    """A ledger that is lost when a chunk has been judged, and its worker with it."""

    def __init__(self, ledger) -> None:
        self._ledger = ledger

    def __getattr__(self, name):
        return getattr(self._ledger, name)

    def record_verdicts(self, *_given, **_named):
        raise ConnectionError("the ledger is gone")

    def fail_chunk(self, *_given, **_named):
        raise LostRace("nobody is there to give it back")


def test_a_chunk_that_is_judged_again_keeps_the_same_failing_rows(platform, spark, intent):
    land(platform.landing, [FIRST], [(f"m{meter}", -1) for meter in range(2 * SHOWN_OF_EACH)])
    opened = open_run(platform, intent(SUSPECT, DAYS, "suspect"))
    dying = replace(platform, ledger=DyingLedger(platform.ledger))
    with pytest.raises(ConnectionError):
        stage_chunk(dying, spark, opened.run_id, DAYS)
    before = failing(platform, opened)
    stage_chunk(platform, spark, opened.run_id, DAYS)
    assert len([one for one in before if one.check == "read_at"]) == SHOWN_OF_EACH
    assert failing(platform, opened) == before
