"""The generator: each day from its seed alone, landed as a whole, spoiled and healed."""

from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.quality import InstantBound
from backfill_platform.enforcement.bronze import CASE_EVENTS
from backfill_platform.enforcement.landing.deliveries import arriving, whole_cohort
from backfill_platform.enforcement.landing.files import (
    DayLandedDifferently,
    Landing,
    day_folder,
    land_days,
)
from backfill_platform.enforcement.landing.poison import POISONS, heal_day, poison_day
from backfill_platform.enforcement.landing.rows import LANDED_SCHEMA, generate_day
from backfill_platform.enforcement.lifecycle import EVENT_TYPES, JURISDICTIONS

DAY = date(2025, 1, 10)
DAYS = DayRange(date(2025, 1, 9), date(2025, 1, 12))


def landed(root: Path, day: date) -> pa.Table:
    files = sorted(day_folder(root, day).glob("*.parquet"))
    return pa.concat_tables([pq.ParquetFile(file).read().cast(LANDED_SCHEMA) for file in files])


@pytest.fixture(scope="module")
def big_day() -> pa.Table:
    return generate_day(seed=3, day=DAY, events_per_day=40_000)


def test_a_day_alone_equals_the_day_in_a_range(tmp_path: Path) -> None:
    land_days(tmp_path, DAYS, seed=1, events_per_day=1_000)
    whole_cohort.cache_clear()
    assert landed(tmp_path, DAY).equals(generate_day(1, DAY, 1_000))


def test_a_cohort_is_the_same_kept_as_a_whole_or_taken_by_day() -> None:
    (by_day,) = arriving(seed=1, cohort_day=DAY, cases=500, arrival=2)
    kept = whole_cohort(1, DAY, 500)[2]
    assert by_day.case.tolist() == kept.case.tolist()
    assert by_day.occurred.tolist() == kept.occurred.tolist()


def test_another_seed_gives_another_day() -> None:
    assert not generate_day(1, DAY, 1_000).equals(generate_day(2, DAY, 1_000))


def test_a_bigger_cohort_begins_with_the_same_cases() -> None:
    (small,) = arriving(seed=1, cohort_day=DAY, cases=50, arrival=0)
    (big,) = arriving(seed=1, cohort_day=DAY, cases=500, arrival=0)
    assert set(small.occurred.tolist()) <= set(big.occurred.tolist())


def test_a_day_has_about_the_asked_number_of_events(big_day: pa.Table) -> None:
    assert abs(big_day.num_rows - 40_000) < 1_200


def test_all_kinds_of_events_and_places_arrive(big_day: pa.Table) -> None:
    assert set(big_day["event_type"].unique().to_pylist()) == {kind.value for kind in EVENT_TYPES}
    assert set(big_day["jurisdiction"].unique().to_pylist()) == set(JURISDICTIONS)


def test_corrections_tombstones_and_exact_copies_arrive(big_day: pa.Table) -> None:
    assert set(big_day["source_version"].unique().to_pylist()) == {1, 2, 3}
    assert set(big_day["op"].unique().to_pylist()) == {"u", "d"}
    assert big_day.group_by(big_day.column_names).aggregate([]).num_rows < big_day.num_rows


def test_nothing_arrives_before_it_happened_or_three_weeks_after(big_day: pa.Table) -> None:
    late = [(DAY - at.date()).days for at in big_day["occurred_at"].to_pylist()]
    assert (min(late), max(late)) == (0, 21)


def test_a_day_that_is_landed_is_not_landed_again(tmp_path: Path) -> None:
    outcomes: list[Landing] = []
    land_days(tmp_path, DAYS, 1, 1_000)
    land_days(tmp_path, DAYS, 1, 1_000, on_day=lambda day, outcome: outcomes.append(outcome))
    assert outcomes == [Landing.ALREADY_LANDED] * 3


def test_a_landed_day_is_not_replaced_by_accident(tmp_path: Path) -> None:
    land_days(tmp_path, DAYS, 1, 1_000)
    with pytest.raises(DayLandedDifferently, match="2025-01-09 is landed with"):
        land_days(tmp_path, DAYS, 2, 1_000)


def test_a_landed_day_is_replaced_on_purpose(tmp_path: Path) -> None:
    land_days(tmp_path, DAYS, 1, 1_000)
    land_days(tmp_path, DAYS, 2, 1_000, overwrite=True)
    assert landed(tmp_path, DAY).equals(generate_day(2, DAY, 1_000))


@pytest.mark.parametrize("kind", list(POISONS))
def test_a_healed_day_is_the_day_before_its_poison(tmp_path: Path, kind: str) -> None:
    land_days(tmp_path, DAYS, 1, 1_000)
    poison = poison_day(tmp_path, DAY, kind)
    assert poison.name == f"poison-{kind}.parquet"
    assert heal_day(tmp_path, DAY) == (poison,)
    assert landed(tmp_path, DAY).equals(generate_day(1, DAY, 1_000))


def test_a_system_in_local_time_sends_what_has_not_happened_yet(tmp_path: Path) -> None:
    land_days(tmp_path, DAYS, 1, 1_000)
    poisoned = pq.ParquetFile(poison_day(tmp_path, DAY, "local_time_as_utc")).read()
    assert max(at.date() for at in poisoned["occurred_at"].to_pylist()) > DAY


def test_a_column_too_many_stands_in_the_poisoned_file_alone(tmp_path: Path) -> None:
    land_days(tmp_path, DAYS, 1, 1_000)
    poisoned = pq.ParquetFile(poison_day(tmp_path, DAY, "extra_column")).read()
    assert set(poisoned.column_names) - set(LANDED_SCHEMA.names) == {"risk_score"}


@pytest.mark.parametrize("bound", CASE_EVENTS.quality.instants, ids=lambda bound: bound.column)
def test_generated_instants_lie_within_the_bounds_that_bronze_declares(
    big_day: pa.Table, bound: InstantBound
) -> None:
    start = datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC)
    since = [at - start for at in big_day[bound.column].to_pylist() if at is not None]
    assert bound.earliest <= min(since)
    assert max(since) < bound.latest


def test_an_unknown_poison_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="use one of duplicate_keys"):
        poison_day(tmp_path, DAY, "arsenic")
