"""What a run is expected to take: exact where logs tell, a range with its basis elsewhere."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from backfill_platform.domain.estimates import Cost, CostRate, Estimate, PastChunk, Span
from backfill_platform.domain.limits import NO_LIMITS, Limits
from backfill_platform.domain.partitions import DayRange
from backfill_platform.planner.estimate import estimate_run, reckon_cost
from backfill_platform.planner.facts import TargetFacts
from backfill_platform.planner.workload import Workload
from backfill_platform_tests.planner.worlds import FACTS, INTENT, TERMS, plan

RATE = CostRate(low=Decimal("1.00"), high=Decimal("3.00"))
EMPTY = TargetFacts(version=None, fingerprints={}, rows={}, bytes={}, rollback_hours=None)
TEN_DAYS = DayRange(date(2025, 3, 1), date(2025, 3, 11))
WORK = Workload(
    chunk_days=5,
    chunks=TEN_DAYS.split(5),
    parts=TEN_DAYS.split(5),
    partitions=10,
    unchanged=0,
    rows=1_000,
    bytes=50_000,
    rows_by_chunks=1_200,
    own_rows=800,
)


def chunk(*, rows_read: int | None = 100, rows_out: int = 50, seconds: float = 4) -> PastChunk:
    return PastChunk(rows_read=rows_read, rows_out=rows_out, seconds=seconds, partitions=5)


def estimate(*past: PastChunk, target: TargetFacts = EMPTY, limits: Limits = NO_LIMITS) -> Estimate:
    return estimate_run(WORK, past_chunks=past, target=target, rate=RATE, limits=limits)


def test_rows_and_bytes_read_are_exact_sums_over_the_input_range():
    read = plan().estimate
    assert (read.rows_read, read.bytes_read) == (69 * 100, 69 * 1_000)


def test_rows_written_follow_the_partitions_of_earlier_chunks():
    found = estimate(chunk(rows_out=40), chunk(rows_out=50), chunk(rows_out=60))
    assert found.rows_out == Span(low=84, expected=100, high=116)


def test_rows_written_do_not_follow_the_rows_read_which_may_be_warm_up():
    much_warm_up = chunk(rows_read=100_000, rows_out=50)
    found = estimate(much_warm_up, chunk(), chunk())
    assert found.rows_out == Span(low=100, expected=100, high=100)


def test_rows_written_are_about_those_that_are_replaced():
    found = estimate(chunk(), target=replace(EMPTY, rows=dict.fromkeys(TEN_DAYS, 9)))
    assert found.rows_out == Span(low=67, expected=90, high=120)
    assert "10 partitions to replace hold now, give or take a third" in found.basis[1]


def test_a_few_partitions_that_are_held_say_little_of_many_that_are_not():
    found = estimate(chunk(), target=replace(EMPTY, rows={date(2025, 3, 1): 900}))
    assert found.rows_out == estimate(chunk()).rows_out


def test_rows_written_are_guessed_widely_where_nothing_is_known():
    found = estimate()
    assert found.rows_out == Span(low=8, expected=800, high=4_000)
    assert "neither been run nor filled yet" in found.basis[1]


def test_one_earlier_chunk_gives_a_range_all_the_same():
    found = estimate(chunk())
    assert found.rows_out == Span(low=50, expected=100, high=200)
    assert "1 earlier chunk of this table (few, so from half to twice)" in found.basis[1]


def test_bytes_written_are_those_of_a_row_in_the_target():
    target = replace(EMPTY, rows={date(2025, 3, 1): 10}, bytes={date(2025, 3, 1): 70})
    found = estimate(chunk(), chunk(), chunk(), target=target)
    assert found.bytes_out == Span(low=700, expected=700, high=700)


def test_bytes_written_are_those_of_a_row_of_the_inputs_where_there_is_no_target():
    assert estimate(chunk(), chunk(), chunk()).bytes_out.expected == 100 * 50


def test_the_duration_of_equal_chunks_is_that_of_the_earlier_ones():
    past = [chunk(rows_read=600, seconds=8.0)] * 10
    assert estimate(*past).seconds == Span(low=16, expected=16, high=16)


def test_every_chunk_pays_for_its_start_however_small_it_is():
    past = [replace(chunk(rows_read=6_000_000, seconds=8.0), partitions=5_000_000)] * 10
    assert estimate(*past).seconds.expected == 2 * 4


def test_the_duration_spans_what_rows_and_what_partitions_would_say():
    past = [chunk(rows_read=6_000_000, seconds=8.0)] * 10
    assert estimate(*past).seconds == Span(low=8, expected=12, high=16)


def test_the_duration_follows_the_partitions_where_nobody_counted_the_input():
    past = [chunk(rows_read=None, seconds=8.0)] * 10
    assert estimate(*past).seconds == Span(low=16, expected=16, high=16)


def test_a_few_earlier_times_give_a_wide_range():
    past = [chunk(rows_read=600, seconds=8.0)] * 9
    assert estimate(*past).seconds == Span(low=12, expected=16, high=24)


def test_only_the_newest_chunks_count():
    newest, oldest = [chunk(rows_read=600, seconds=8.0)] * 50, [chunk(seconds=90_000.0)] * 50
    assert estimate(*newest, *oldest).seconds.high == 16


def test_a_table_that_never_ran_is_given_a_wide_default_that_says_so():
    found = estimate().seconds
    assert (found.low, found.expected, found.high) == (20, 20, 21)
    assert "no run of this table yet: duration at a default of 10,000 rows" in estimate().basis[3]


def test_a_throttled_run_takes_as_long_as_its_limits_and_pauses_ask():
    limits = Limits(max_rows_per_minute=600, pause_seconds=7)
    assert estimate(limits=limits).seconds == Span(low=127, expected=127, high=127)


def test_warm_up_that_is_read_twice_is_said():
    assert estimate().basis[0].startswith("the 2 chunks read 1,200 rows in all")


@pytest.mark.parametrize(
    ("rows", "cost"),
    [
        (3_000_000, Cost(low=Decimal("3.00"), expected=Decimal("6.00"), high=Decimal("9.00"))),
        (1_000, Cost(low=Decimal("0.0010"), expected=Decimal("0.0020"), high=Decimal("0.0030"))),
        (0, Cost(low=Decimal(0), expected=Decimal(0), high=Decimal(0))),
    ],
)
def test_cost_is_the_rate_for_a_million_rows_with_its_middle(rows, cost):
    assert reckon_cost(rows, RATE) == cost


def test_a_layer_has_its_own_rate_before_the_default():
    terms = replace(
        TERMS, rates={**TERMS.rates, "silver": CostRate(low=Decimal(9), high=Decimal(9))}
    )
    assert plan(INTENT, terms=terms).estimate.cost_usd.low == Decimal("0.06")


def test_what_earlier_chunks_took_stands_in_the_plan():
    facts = replace(FACTS, past_chunks=(chunk(), chunk(), chunk()))
    assert "duration from 3 earlier chunks of this table" in "\n".join(
        plan(facts=facts).estimate.basis
    )
