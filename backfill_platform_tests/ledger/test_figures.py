"""Counts are added up with what they count; how everything stands costs a few statements."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from backfill_platform.domain.chunks import ChunkCounts, ClaimedChunk
from backfill_platform.domain.errors import LostRace
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.ledger_figures import Counted, LongestInState, Reach
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.verdicts import Outcome
from backfill_platform.ledger.database import make_engine
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    NOW,
    TABLE,
    VERSION,
    accepted_rows,
    after,
    approval,
    claimed,
    intent,
    january,
    judged,
    measured,
    move,
    new_run,
    register,
    stage_and_validate,
)
from backfill_platform_tests.ledger.statements import statements

DAYS = january(1, 3)
S = RunState


@pytest.fixture
def engine(ledger_url: str) -> Iterator[sa.Engine]:
    engine = make_engine(ledger_url)
    yield engine
    engine.dispose()


@pytest.fixture
def ledger(engine: sa.Engine) -> Ledger:
    return Ledger(engine)


@pytest.fixture
def run_id(ledger: Ledger) -> RunId:
    return register(ledger, days=DAYS).run_id


def counted(ledger: Ledger, what: Counted) -> dict[str, int]:
    return {one.word: one.amount for one in ledger.figures().tallies if one.counted is what}


def finish(ledger: Ledger, run_id: RunId, chunk: ClaimedChunk, **said: Any) -> None:
    counts = ChunkCounts(input_count=9, output_count=6, checksum="sum", **said)
    ledger.finish_chunk_staging(
        run_id,
        chunk.chunk_id,
        chunk.fencing_token,
        counts=counts,
        measurements=measured(chunk.days),
        now=after(20),
    )


def test_a_staged_chunk_is_counted_with_its_rows_its_time_and_its_cost(
    ledger: Ledger, run_id: RunId
) -> None:
    said = {"cost_usd": Decimal("0.25"), "write_seconds": 1.5}
    finish(ledger, run_id, claimed(ledger, run_id, DAYS), **said)
    assert {one.counted: (one.word, one.amount) for one in ledger.figures().tallies} == {
        Counted.CHUNKS: ("STAGED", 1),
        Counted.INPUT_ROWS: ("", 9),
        Counted.OUTPUT_ROWS: ("", 6),
        Counted.COMPUTED_MICRODOLLARS: ("", 250_000),
        Counted.CHUNKS_BY_SECONDS: ("30", 1),
        Counted.CHUNK_MILLISECONDS: ("", 20_000),
        Counted.WRITES_BY_MILLISECONDS: ("2500", 1),
        Counted.WRITE_MILLISECONDS: ("", 1_500),
    }


def test_what_a_plan_expects_to_cost_is_counted_when_it_is_recorded(ledger: Ledger) -> None:
    plan = new_run("cli:1")
    for _ in range(2):
        ledger.register_run(
            lambda number: replace(plan(number), cost_usd=Decimal("1.25")),
            table=TABLE,
            transform_version=VERSION,
            planned_on=NOW.date(),
            now=NOW,
        )
    assert counted(ledger, Counted.PLANNED_MICRODOLLARS) == {"": 1_250_000}


def test_what_is_done_twice_is_counted_once(ledger: Ledger, run_id: RunId) -> None:
    chunk = claimed(ledger, run_id, DAYS)
    finish(ledger, run_id, chunk)
    finish(ledger, run_id, chunk)
    ledger.record_verdicts(run_id, DAYS, judged(DAYS), now=NOW)
    ledger.record_verdicts(run_id, DAYS, judged(DAYS), now=NOW)
    ledger.mark_chunk_published(run_id, DAYS, now=NOW)
    ledger.mark_chunk_published(run_id, DAYS, now=NOW)
    assert counted(ledger, Counted.CHUNKS) == {"STAGED": 1, "VALIDATED": 1, "PUBLISHED": 1}
    assert counted(ledger, Counted.INPUT_ROWS) == {"": 9}


def test_what_is_computed_again_is_counted_again(ledger: Ledger, run_id: RunId) -> None:
    finish(ledger, run_id, claimed(ledger, run_id, DAYS))
    ledger.record_verdicts(run_id, DAYS, judged(DAYS, Outcome.FAILED), now=NOW)
    finish(ledger, run_id, claimed(ledger, run_id, DAYS))
    assert counted(ledger, Counted.CHUNKS) == {"STAGED": 2, "FAILED": 1}
    assert counted(ledger, Counted.INPUT_ROWS) == {"": 18}
    assert counted(ledger, Counted.STRAYED_VERDICTS) == {"key_unique FAILED": 3}


def test_whoever_lost_its_claim_counts_nothing(ledger: Ledger, run_id: RunId) -> None:
    stale = claimed(ledger, run_id, DAYS)
    claimed(ledger, run_id, DAYS)
    with pytest.raises(LostRace):
        finish(ledger, run_id, stale)
    assert ledger.figures().tallies == ()


def test_a_publication_is_counted_when_it_landed_and_not_again(
    ledger: Ledger, run_id: RunId
) -> None:
    publication_id = ledger.record_intent(intent(run_id, DAYS), now=NOW).intent.publication_id
    for seconds in (7, 9):
        ledger.record_fact(
            publication_id, version=1, accepted=accepted_rows(DAYS), now=after(seconds)
        )
    assert counted(ledger, Counted.COMMITS_BY_SECONDS) == {"10": 1}
    assert counted(ledger, Counted.COMMIT_MILLISECONDS) == {"": 7_000}


def test_a_clock_that_was_set_back_takes_no_time_away(ledger: Ledger, run_id: RunId) -> None:
    ledger.record_intent(intent(run_id, DAYS), now=after(60))
    ledger.record_fact(f"{run_id}/{DAYS}", version=1, accepted=accepted_rows(DAYS), now=NOW)
    assert counted(ledger, Counted.COMMITS_BY_SECONDS) == {"1": 1}


def test_how_long_a_run_waits_is_counted_from_when_it_began_to(
    ledger: Ledger, run_id: RunId
) -> None:
    move(ledger, run_id, S.PLANNED, S.AWAITING_APPROVAL)
    ledger.record_approval(approval(ledger.run(run_id)), now=after(60))
    waits = LongestInState(table=TABLE, state=S.AWAITING_APPROVAL, since=NOW)
    assert ledger.figures().longest == (waits,)


def test_the_longest_of_several_is_told(ledger: Ledger, run_id: RunId) -> None:
    register(ledger, "later", january(10), now=after(60))
    assert ledger.figures().longest == (LongestInState(table=TABLE, state=S.PLANNED, since=NOW),)


def test_a_run_that_has_come_to_its_end_waits_no_more(ledger: Ledger, run_id: RunId) -> None:
    move(ledger, run_id, S.PLANNED, S.CANCELLED)
    figures = ledger.figures()
    assert (figures.longest, [one.runs for one in figures.runs]) == ((), [1])


def test_a_table_reaches_as_far_as_its_last_accepted_day(ledger: Ledger, run_id: RunId) -> None:
    stage_and_validate(ledger, run_id, DAYS)
    ledger.record_intent(intent(run_id, DAYS), now=NOW)
    ledger.record_fact(f"{run_id}/{DAYS}", version=1, accepted=accepted_rows(DAYS), now=NOW)
    reach = Reach(table=TABLE, last_day=date(2025, 1, 3), partitions=3)
    assert ledger.figures().reaches == (reach,)


@pytest.mark.parametrize("others", [0, 30])
def test_figures_take_four_statements_whatever_was_before(
    ledger: Ledger, engine: sa.Engine, run_id: RunId, others: int
) -> None:
    for number in range(others):
        register(ledger, f"other:{number}")
    with statements(engine) as seen:
        ledger.figures()
    assert len([one for one in seen if one.startswith("SELECT")]) == 4
