"""What a run of corrections finds, and that original and corrections together tell the truth."""

import hashlib
import random
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from pyspark.sql import functions as F

from backfill_platform.corrections.effective import apply_corrections
from backfill_platform.domain.contracts import LINEAGE_COLUMNS
from backfill_platform.domain.errors import ContractBroken
from backfill_platform_tests.corrections.worlds import (
    COLUMNS,
    COMPUTED,
    CORRECTIONS,
    DAY,
    NEXT,
    STATIONS,
    context,
    failures,
    judge_staged,
    published,
)

NOON = datetime(2025, 1, 1, 12, 0, 0, 123000, tzinfo=UTC)
PRICE = Decimal("1.50")

FIRST = [
    (DAY, "a", 1, PRICE, NOON, True),
    (DAY, "b", 2, None, None, None),
    (DAY, "same", 3, PRICE, NOON, False),
    (NEXT, 'quo"ted', 4, None, NOON, False),
]
SECOND = [
    (DAY, "a", 1, PRICE, None, True),
    (DAY, "new", 2, None, NOON, None),
    (DAY, "same", 3, PRICE, NOON, False),
    (NEXT, 'quo"ted', 5, Decimal("2"), NOON, False),
]
THIRD = [
    (DAY, "a", 7, PRICE, NOON, True),
    (DAY, "b", 2, PRICE, None, None),
    (DAY, "same", 3, PRICE, NOON, False),
    (NEXT, 'quo"ted', 5, None, NOON, True),
]


def some_rows(seed):
    """Of forty keys about half, and few values, so that much stays and much comes back."""
    chance = random.Random(seed)
    stations = sorted(chance.sample(range(40), 20))
    return [
        (DAY, f"s{number}", chance.randrange(2), chance.choice((None, PRICE)), NOON, None)
        for number in stations
    ]


HISTORIES = {
    "corrections of corrections": [FIRST, SECOND, THIRD],
    "a day emptied and filled": [FIRST, FIRST[3:], FIRST],
    "many": [some_rows(1), some_rows(2), some_rows(3)],
}


def after(spark, history):
    """Published, and corrected once for each further output."""
    world = published(spark, history[0])
    for number, output in enumerate(history[1:], start=2):
        world = world.corrected_by(f"run {number}", output)
    return world


@pytest.fixture(scope="module")
def first(spark):
    return published(spark, FIRST)


@pytest.fixture(scope="module")
def corrected(first):
    """Published as FIRST, and corrected to SECOND by run 2."""
    return first.corrected_by("run 2", SECOND)


@pytest.fixture(scope="module")
def corrections(corrected):
    return {row["corrects_key"]: row.asDict() for row in corrected.corrections.collect()}


@pytest.fixture(scope="module")
def expected(first):
    """What the inputs say of the corrections of run 2."""
    return first.expected_by("run 2", SECOND)


def found(world, run_id, rows):
    """By station: what the transform returns for it."""
    return {row["corrects_key"]: row.asDict() for row in world.found_by(run_id, rows).collect()}


def effective(world):
    rows = apply_corrections(STATIONS, world.original, world.corrections)
    return in_order(tuple(row) for row in rows.select(*COLUMNS).collect())


def in_order(rows):
    """As Spark gives them back: instants without their zone, prices with all their places."""
    return sorted((tuple(map(as_read, row)) for row in rows), key=str)


def as_read(value):
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    return f"{value:.2f}" if isinstance(value, Decimal) else value


def lineage(run_id):
    named = {column.name: f"{column.name} of {run_id}" for column in LINEAGE_COLUMNS}
    return named | {"produced_by_run_id": run_id}


def key(station, day=DAY):
    return f'{{"day":"{day}","station":"{station}"}}'


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES.keys())
def test_original_and_corrections_are_what_a_replacement_would_have_published(spark, history):
    assert effective(after(spark, history)) == in_order(history[-1])


def test_a_changed_row_is_named_with_the_columns_that_changed_alone(corrections):
    told = corrections[key("a")]
    assert told == lineage("run 2") | {
        "day": DAY,
        "correction_id": told["correction_id"],
        "correction_number": 1,
        "event_type": "StationDaysCorrected",
        "change": "CHANGED",
        "corrects_table": "silver.station_days",
        "corrects_key": key("a"),
        "corrects_run_id": "first",
        "corrects_correction_id": None,
        "original_run_id": "first",
        "old_values": '{"seen_at":"2025-01-01T12:00:00.123Z"}',
        "new_values": '{"seen_at":null}',
        "reason": "why of run 2",
    }


def test_a_removed_row_is_told_whole(corrections):
    told = corrections[key("b")]
    assert (told["change"], told["corrects_run_id"], told["new_values"]) == (
        "REMOVED",
        "first",
        None,
    )
    assert told["old_values"] == (
        '{"count":"2","day":"2025-01-01","is_open":null,"price":null,"seen_at":null,"station":"b"}'
    )


def test_an_added_row_is_told_whole_and_corrects_no_run(corrections):
    told = corrections[key("new")]
    assert (told["change"], told["corrects_run_id"], told["old_values"]) == ("ADDED", None, None)
    assert told["new_values"] == (
        '{"count":"2","day":"2025-01-01","is_open":null,"price":null,'
        '"seen_at":"2025-01-01T12:00:00.123Z","station":"new"}'
    )


def test_what_stayed_the_same_gives_no_correction(corrections):
    assert corrections.keys() == {
        key("a"),
        key("b"),
        key("new"),
        key('quo\\"ted', NEXT),
    }


def test_anybody_can_compute_the_identity_of_a_correction(corrections):
    told = corrections[key("b")]
    lines = ("silver.station_days", key("b"), "1", told["old_values"], "")
    assert told["correction_id"] == hashlib.sha256("\n".join(lines).encode()).hexdigest()


def test_a_correction_of_a_correction_names_it_and_its_run(corrected, corrections):
    again = found(corrected, "run 3", THIRD)[key("a")]
    assert again["correction_number"] == 2
    assert again["corrects_correction_id"] == corrections[key("a")]["correction_id"]
    assert (again["corrects_run_id"], again["original_run_id"]) == ("run 2", "first")
    assert again["old_values"] == '{"count":"1","seen_at":null}'


def test_the_same_run_gives_the_same_corrections_again(first, corrections):
    again = found(first, "run 2", [*reversed(SECOND)])
    assert {name: lineage("run 2") | row for name, row in again.items()} == corrections


def test_a_run_after_its_own_publication_finds_nothing_more(corrected):
    assert found(corrected, "run 3", SECOND) == {}


def test_corrections_do_not_depend_on_the_time_zone_of_the_session(spark, corrections):
    elsewhere = spark.newSession()
    elsewhere.conf.set("spark.sql.session.timeZone", "Asia/Jakarta")
    there = found(published(elsewhere, FIRST), "run 2", SECOND)
    assert {name: lineage("run 2") | row for name, row in there.items()} == corrections


def test_corrections_of_output_that_was_replaced_since_are_history(corrected):
    assert effective(corrected.replaced_by("restated", FIRST)) == in_order(FIRST)


def test_corrections_apply_again_once_the_replacement_is_rolled_back(corrected):
    rolled_back = corrected.replaced_by("restated", THIRD).replaced_by("first", FIRST)
    assert effective(rolled_back) == in_order(SECOND)


def test_replaced_output_is_corrected_by_further_numbers(corrected):
    told = found(corrected.replaced_by("restated", FIRST), "run 4", SECOND)[key("a")]
    assert (told["correction_number"], told["corrects_correction_id"]) == (2, None)
    assert (told["corrects_run_id"], told["original_run_id"]) == ("restated", "restated")


def test_a_column_that_the_original_does_not_hold_yet_was_null(first):
    narrow = replace(first, original=first.original.drop("is_open"))
    told = found(narrow, "run 2", FIRST)[key("a")]
    assert (told["old_values"], told["new_values"]) == ('{"is_open":null}', '{"is_open":"true"}')


def test_a_transform_that_breaks_the_originals_schema_is_refused(first):
    frames = first.frames(FIRST)
    computed = frames.inputs[COMPUTED].withColumn("count", F.lit("many"))
    broken = replace(frames, inputs={**frames.inputs, COMPUTED: computed})
    with pytest.raises(ContractBroken, match=r"schema of silver\.station_days: .* in count\."):
        CORRECTIONS.transforms[0].function(broken, context("run 2"))


def test_honest_corrections_pass_every_gate(corrected):
    assert failures(corrected.judged("run 3", THIRD)) == {}


def test_corrections_beside_those_of_replaced_output_pass_every_gate(corrected):
    restated = corrected.replaced_by("restated", THIRD)
    assert failures(restated.judged("run 4", SECOND)) == {}


def test_a_correction_must_keep_the_contract_of_the_original(first):
    broken = [(DAY, "a", -1, PRICE, NOON, True), (DAY, "b", None, None, None, None), *FIRST[2:]]
    assert failures(first.judged("run 2", broken))["values_valid"].startswith(
        "1 row failing new_values.count_greater_than_or_equal_to; "
        "1 row failing new_values.count_not_equal_to; "
    )


FAULTS = {
    "an added row is lost": lambda rows: rows.where(F.col("corrects_key") != key("new")),
    "a removed row is lost": lambda rows: rows.where(F.col("corrects_key") != key("b")),
    "a change is lost": lambda rows: rows.where(F.col("corrects_key") != key("a")),
    "a value is wrong": lambda rows: rows.withColumn(
        "new_values", F.regexp_replace("new_values", '"2"', '"3"')
    ),
    "a value is of another row": lambda rows: rows.withColumn(
        "corrects_key", F.regexp_replace("corrects_key", '"b"', '"same"')
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_corrections_that_do_not_lead_to_the_corrected_output_are_not_reconciled(
    corrected, expected, fault
):
    assert set(failures(judge_staged(fault(corrected.corrections), expected))) == {"reconciled"}


def test_corrected_output_with_two_rows_of_one_key_is_not_reconciled(first):
    twice = [*FIRST, (DAY, "new", 1, None, None, None), (DAY, "new", 2, None, None, None)]
    message = failures(first.judged("run 2", twice))["reconciled"]
    assert "repeated_numbers: the input says 0, the output 1" in message


def test_corrected_output_has_to_keep_the_originals_own_reconciliation(first, corrected):
    expected = replace(first, uncounted=1).expected_by("run 2", SECOND)
    message = failures(judge_staged(corrected.corrections, expected))["reconciled"]
    assert message.startswith("unreconciled_counted: the input says 1, the output 0; ")
