"""How a day was judged over the runs of its table, and what they measured."""

from datetime import date

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.modes import ExecutionMode
from backfill_platform.domain.verdicts import Gate, Outcome
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    ALONG_THE_ROAD,
    TABLE,
    after,
    claimed,
    january,
    judged,
    move,
    register,
    stage,
)

DAYS = january(1, 2)
FIRST = date(2025, 1, 1)
KEY = Gate.KEY_UNIQUE


def judge(
    ledger: Ledger, seconds: int, outcome: Outcome = Outcome.PASSED, table: str = TABLE
) -> RunId:
    """A dry run, which stands in nobody's way."""
    mode = ExecutionMode.DRY_RUN
    run_id = register(ledger, f"run {seconds}", DAYS, mode=mode, table=table).run_id
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    ledger.record_verdicts(run_id, DAYS, judged(DAYS, outcome), now=after(seconds))
    return run_id


def test_a_day_was_judged_by_every_run_of_its_table_the_newest_first(ledger: Ledger) -> None:
    first = judge(ledger, 1, Outcome.FAILED)
    second = judge(ledger, 2)
    judge(ledger, 3, table="gold.sla_breaches_daily")
    found = ledger.judgements(TABLE, [FIRST], [KEY])
    told = [(one.run_id, one.outcome, one.judged_at) for one in found]
    assert told == [
        (second, Outcome.PASSED, after(2)),
        (first, Outcome.FAILED, after(1)),
    ]


def test_of_other_gates_and_days_nothing_is_told(ledger: Ledger) -> None:
    judge(ledger, 1)
    assert ledger.judgements(TABLE, [FIRST], [Gate.ROWS_PRESENT]) == ()
    assert ledger.judgements(TABLE, [date(2025, 3, 1)], [KEY]) == ()


def test_the_newest_judgement_of_each_day_says_whose_it_is(ledger: Ledger) -> None:
    judge(ledger, 2)
    newest = judge(ledger, 3)
    assert ledger.judging_runs(TABLE, [*DAYS, date(2025, 3, 1)]) == dict.fromkeys(DAYS, newest)


def test_what_runs_measured_is_told_by_run_and_day(ledger: Ledger) -> None:
    runs = [judge(ledger, seconds) for seconds in (1, 2, 3)]
    found = ledger.measured_days(runs[:2], [FIRST])
    assert {(one.run_id, one.measured.day) for one in found} == {(run, FIRST) for run in runs[:2]}
    assert found[0].measured.measures == {"breached": 2}


def test_published_runs_are_told_in_their_order_with_what_they_measured(ledger: Ledger) -> None:
    first, second, _ = (judge(ledger, seconds) for seconds in (1, 2, 3))
    other = judge(ledger, 4, table="gold.sla_breaches_daily")
    for run_id in (second, first, other):
        move(ledger, run_id, *ALONG_THE_ROAD)
    found = ledger.measuring_runs(TABLE, [FIRST, date(2025, 3, 1)])
    assert [*found.items()] == [(first, {FIRST}), (second, {FIRST})]
