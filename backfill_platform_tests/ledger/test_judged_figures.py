"""Figures come back from the ledger as they went in, and a held verdict is no refusal."""

from dataclasses import replace
from decimal import Decimal

import pytest

from backfill_platform.domain.errors import LostRace
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.verdicts import JudgedFigure, Outcome, Verdict
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    COUNTS,
    NOW,
    claimed,
    january,
    judged,
    measured,
    register,
    stage,
)
from backfill_platform_tests.ledger.tampering import tamper

DAYS = january(1, 2)
FELL = JudgedFigure(
    name="breached", value="US-CA", expected="-20 % to 20 %", found="-80 %", strays=True
)
LARGE = 2**70 + 1
EXACT = replace(
    measured(january(1))[0],
    measures={"breached": LARGE, "amount": Decimal("12.50"), "ratio": Decimal("1E-30")},
    by_dimension={"breached": {"US-CA / OPEN": 2, "US-NY / OPEN": Decimal("0.1")}},
    rows_without_lineage=0,
    rejected={"no jurisdiction": 3},
    orphans={"cases": 1},
    misplaced_instants={"received_at": 4},
    shape_problems=("column fee is missing",),
)


@pytest.fixture
def run_id(ledger: Ledger) -> RunId:
    return register(ledger, "run", DAYS).run_id


def stage_measured(ledger: Ledger, run_id: RunId, found: PartitionMeasurement) -> None:
    own = claimed(ledger, run_id, january(1))
    ledger.finish_chunk_staging(
        run_id, own.chunk_id, own.fencing_token, counts=COUNTS, measurements=[found], now=NOW
    )


def with_figures(outcome: Outcome) -> tuple[Verdict, ...]:
    calm = replace(FELL, value="US-NY", found="1 %", strays=False)
    return tuple(replace(one, figures=(FELL, calm)) for one in judged(DAYS, outcome))


def test_figures_come_back_to_the_last_digit(ledger: Ledger, run_id: RunId) -> None:
    stage_measured(ledger, run_id, EXACT)
    (found,) = ledger.measurements(run_id)
    assert (found, str(found.measures["amount"])) == (EXACT, "12.50")


def test_what_was_not_measured_comes_back_as_not_measured(ledger: Ledger, run_id: RunId) -> None:
    (unmeasured,) = measured(january(1))
    stage_measured(ledger, run_id, unmeasured)
    (found,) = ledger.measurements(run_id)
    assert (found, found.rejected, found.shape_problems) == (unmeasured, None, None)


def test_a_measurement_of_the_version_before_is_read(
    ledger: Ledger, run_id: RunId, ledger_url: str
) -> None:
    stage_measured(ledger, run_id, EXACT)
    former = (
        '{"check_failures": {"age": 0}, "duplicate_keys": 0, "measures": {"breached": 2}, '
        '"null_counts": {"case_id": 0}, "private_rows": {}}'
    )
    tamper(ledger_url, "UPDATE partition_measurement SET numbers = :former", former=former)
    assert ledger.measurements(run_id) == measured(january(1))


@pytest.mark.parametrize("outcome", [Outcome.HELD, Outcome.WARNED])
def test_a_chunk_that_nothing_refuses_is_validated_with_its_figures(
    ledger: Ledger, run_id: RunId, outcome: Outcome
) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    chunk = ledger.record_verdicts(run_id, DAYS, with_figures(outcome), now=NOW)
    assert (chunk.status, chunk.error) == (ChunkStatus.VALIDATED, None)
    assert ledger.verdicts(run_id) == with_figures(outcome)


def test_verdicts_with_other_figures_are_another_judgement(ledger: Ledger, run_id: RunId) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    first = ledger.record_verdicts(run_id, DAYS, with_figures(Outcome.HELD), now=NOW)
    assert ledger.record_verdicts(run_id, DAYS, with_figures(Outcome.HELD), now=NOW) == first
    with pytest.raises(LostRace):
        ledger.record_verdicts(run_id, DAYS, judged(DAYS, Outcome.HELD), now=NOW)


def test_a_verdict_of_the_version_before_has_no_figures(
    ledger: Ledger, run_id: RunId, ledger_url: str
) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    ledger.record_verdicts(run_id, DAYS, with_figures(Outcome.PASSED), now=NOW)
    tamper(ledger_url, "UPDATE verdict SET figures = NULL")
    assert ledger.verdicts(run_id) == judged(DAYS)
