"""What a diff finds, against a model of it, and what it writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backfill_platform.domain.changes import Differences, RunDifferences, WatchedKey
from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.plain import from_plain, to_plain
from backfill_platform.domain.privacy import ListedSubjects, Mask, Protection
from backfill_platform.validator.diff.comparing import Question, Sides, compare_sides
from backfill_platform.validator.diff.shape import shape_of
from backfill_platform_tests.validator.diff_model import Side, expect

DAY, NEXT = date(2025, 1, 1), date(2025, 1, 2)
TYPES = {
    "day": "date",
    "name": "string",
    "amount": "long",
    "price": "decimal(12,2)",
    "ratio": "double",
    "due": "timestamp",
    "closed": "date",
    "late": "boolean",
    "note": "string",
}
NUMBERS = ["amount", "price", "ratio", "due", "closed", "late"]
SCHEMA = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
CONTRACT = Contract(
    columns=tuple(Column(name=name, type=kind, is_nullable=True) for name, kind in TYPES.items()),
    checks=(),
)
START = datetime(2025, 1, 1, tzinfo=UTC)
RUN = RunId("bf-20260704-names-1.0.0-001")
NOTHING: dict[str, Any] = dict.fromkeys([*NUMBERS, "note"])


def row(**said: Any) -> dict[str, Any]:
    return NOTHING | said


@dataclass(frozen=True)
class Diff:
    spark: Any
    path: Path

    def compare(
        self,
        before: Side,
        after: Side,
        *,
        equal: Side | None = None,
        watched: Sequence[dict[str, str]] = (),
        protection: Protection = Protection(),  # noqa: B008 - a frozen value
        seed: str = "seed",
        dimensions: tuple[str, ...] = ("day",),
        **said: Any,
    ) -> Differences:
        return compare_sides(
            Sides(
                before=self.frame(before), after=self.frame(after), equal=self.frame(equal or {})
            ),
            shape_of(
                CONTRACT,
                partition_column="day",
                keys=("day", "name"),
                protection=protection,
                decimal_places=said.get("decimal_places", {}),
            ),
            Question(
                run_id=RUN,
                base_version=3,
                seed=seed,
                dimensions=dimensions,
                watched=tuple(watched),
            ),
            protection=protection,
            path=self.path,
        )

    def frame(self, side: Side) -> Any:
        rows = [(*key, *(said[name] for name in [*NUMBERS, "note"])) for key, said in side.items()]
        return self.spark.createDataFrame(rows, SCHEMA)

    def written(self) -> list[dict[str, Any]]:
        return DeltaTable(self.path).to_pyarrow_table().to_pylist()


@pytest.fixture
def diff(spark: Any, tmp_path: Path) -> Diff:
    return Diff(spark, tmp_path / "_beside" / "diff")


def sides() -> st.SearchStrategy[Side]:
    key = st.tuples(st.sampled_from([DAY, NEXT]), st.sampled_from([*"abcdefghij", None]))
    instants = st.integers(0, 10**11).map(lambda n: START + timedelta(microseconds=n))
    values = st.fixed_dictionaries(
        {
            "amount": st.none() | st.integers(-(2**63), 2**63 - 1),
            "price": st.none() | st.decimals(-9999, 9999, places=2),
            "ratio": st.none() | st.integers(-8, 8).map(lambda n: n / 4),
            "due": st.none() | instants,
            "closed": st.none() | st.dates(DAY, NEXT),
            "late": st.none() | st.booleans(),
            "note": st.none() | st.sampled_from(["x", "y"]),
        }
    )
    return st.dictionaries(key, values, min_size=8, max_size=20)


def drift(found: Differences) -> dict[str, tuple[Any, ...]]:
    return {
        one.column: (
            one.rows,
            one.sum_of_differences,
            one.sum_of_absolute_differences,
            one.greatest_difference,
        )
        for one in found.drift
    }


@settings(
    max_examples=2,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(before=sides(), after=sides())
def test_spark_finds_what_the_model_finds(diff: Diff, before: Side, after: Side) -> None:
    expected = expect(before, after, NUMBERS)
    found = diff.compare(before, after)
    written = {
        (one["day"], one["name"]): (one["change"], tuple(sorted(one["changed_columns"])))
        for one in diff.written()
    }
    assert written == expected.changes
    assert found.by_column == expected.by_column
    assert found.totals.unchanged == expected.unchanged
    assert drift(found) == {
        name: (one.rows, one.total, one.absolute, one.greatest)
        for name, one in expected.drift.items()
    }
    assert sum(one.changed for one in found.dimensions[0].values) == found.totals.changed


OLD: Side = {
    (DAY, "a"): row(amount=1, price=Decimal("10.10"), note="x"),
    (DAY, "b"): row(amount=2, due=datetime(2025, 1, 1, 12, tzinfo=UTC)),
    (DAY, "gone"): row(amount=7),
    (NEXT, "same"): row(amount=5),
}
NEW: Side = {
    (DAY, "a"): row(amount=4, price=Decimal("9.00"), note="y"),
    (DAY, "b"): row(amount=2, due=datetime(2025, 1, 1, 9, 30, tzinfo=UTC)),
    (DAY, "new"): row(amount=11),
    (NEXT, "same"): row(amount=5),
}


@pytest.fixture
def small(diff: Diff) -> Differences:
    return diff.compare(OLD, NEW, watched=[{"name": "same"}, {"name": "b"}, {"name": "nobody"}])


def test_the_differences_of_a_column_of_numbers_add_up_to_what_its_total_moves_by(
    small: Differences,
) -> None:
    amount, price, *_ = small.drift
    assert (amount.total_before, amount.total_after) == (15, 22)
    assert (amount.sum_of_differences, amount.rows, amount.greatest_difference) == (7, 3, 11)
    assert amount.mean_difference == Decimal("2.333333")
    assert (price.sum_of_differences, price.is_exact) == (Decimal("-1.10"), True)


def test_watched_keys_are_told_whether_they_change_are_there_or_not(
    diff: Diff, small: Differences
) -> None:
    same, changed, missing = small.watched
    assert same == WatchedKey(key={"name": "same"}, added=0, removed=0, changed=0, unchanged=1)
    assert (changed.changed, missing.is_missing) == (1, True)
    marked = {one["name"]: one["change"] for one in diff.written() if "WATCHED" in one["samples"]}
    assert marked == {"same": "UNCHANGED", "b": "CHANGED"}


def test_both_sides_stand_in_the_table_with_what_lies_between(
    diff: Diff, small: Differences
) -> None:
    rows = {one["name"]: one for one in diff.written()}
    assert (rows["a"]["before"]["amount"], rows["a"]["after"]["amount"]) == (1, 4)
    assert rows["a"]["drift"]["price"] == Decimal("-1.10")
    assert rows["b"]["drift"]["due"] == -9000
    assert (rows["new"]["before"], rows["gone"]["after"]) == (None, None)
    assert {(one["run_id"], one["base_version"]) for one in rows.values()} == {(RUN, 3)}


def test_the_row_that_holds_the_greatest_differences_comes_first(
    diff: Diff, small: Differences
) -> None:
    ranked = {one["largest_rank"]: one["name"] for one in diff.written()}
    # a: 3/11 of the amount and all of the price's; b and new: all of one, and b changed a column.
    assert ranked == {1: "a", 2: "b", 3: "new", 4: "gone", None: "same"}


def test_what_was_found_survives_as_a_document(small: Differences) -> None:
    whole = RunDifferences(
        run_id=RUN,
        table="silver.names",
        base_version=3,
        days=PartitionSet.of_days([DAY, NEXT]),
        changed_days=PartitionSet.of_days([DAY, NEXT]),
        equal_days=None,
        equal_rows=0,
        added_columns=(),
        removed_columns=(),
        found=small,
    )
    read = from_plain(RunDifferences, to_plain(whole))
    assert (read, read.digest) == (whole, whole.digest)


MANY: Side = {(DAY, f"n{number}"): row(amount=number) for number in range(1, 250)}


def test_samples_are_the_same_each_time(diff: Diff) -> None:
    first = (diff.compare({}, MANY), samples(diff))
    in_another_order = {key: MANY[key] for key in [*MANY][::-1]}
    assert (diff.compare({}, in_another_order), samples(diff)) == first
    assert [len(first[1][kind]) for kind in ("LARGEST", "RANDOM")] == [100, 100]
    assert first[1]["LARGEST"] == {f"n{number}" for number in range(150, 250)}


def test_another_run_draws_other_rows(diff: Diff) -> None:
    diff.compare({}, MANY)
    first = samples(diff)
    diff.compare({}, MANY, seed="another")
    assert samples(diff)["RANDOM"] != first["RANDOM"]


def samples(diff: Diff) -> dict[str, set[str]]:
    rows = diff.written()
    return {
        kind: {one["name"] for one in rows if kind in one["samples"]}
        for kind in ("LARGEST", "RANDOM")
    }


def test_a_watched_key_is_found_in_a_partition_that_was_not_compared(diff: Diff) -> None:
    equal: Side = {(NEXT, "a"): row(amount=1), (NEXT, "b"): row(amount=2)}
    found = diff.compare({}, {(DAY, "a"): row()}, equal=equal, watched=[{"name": "a"}])
    (watched,) = found.watched
    assert (watched.added, watched.unchanged) == (1, 1)
    assert (found.totals.added, found.totals.unchanged) == (1, 0)


def test_nothing_of_whom_is_to_be_forgotten_and_nothing_masked_is_written(diff: Diff) -> None:
    listed = ListedSubjects(list_name="forgotten", subjects=frozenset({"gone"}))
    protection = Protection(
        subject_column="name", listed=listed, masks={"note": Mask.NULL, "amount": Mask.NULL}
    )
    found = diff.compare(OLD, NEW, protection=protection)
    written = diff.written()
    assert (found.totals.removed, found.not_kept) == (1, 1)
    assert {one["name"] for one in written} == {"a", "b", "new"}
    assert all({"note", "amount"}.isdisjoint(one["after"]) for one in written)
    assert all("amount" not in one["drift"] for one in written)


def test_a_key_that_the_accepted_side_shows_raw_is_not_written(diff: Diff) -> None:
    protection = Protection(masks={"name": Mask.SHA256})
    diff.compare({(DAY, "raw"): row()}, {(DAY, "f" * 64): row()}, protection=protection)
    assert {one["change"]: one["name"] for one in diff.written()} == {
        "ADDED": "f" * 64,
        "REMOVED": None,
    }


def test_a_floating_column_with_declared_places_is_told_exactly(diff: Diff) -> None:
    before: Side = {(DAY, name): row(ratio=0.1) for name in "abc"}
    after: Side = {(DAY, name): row(ratio=0.2) for name in "abc"}
    found = diff.compare(before, after, decimal_places={"ratio": 1})
    (ratio,) = [one for one in found.drift if one.column == "ratio"]
    assert (ratio.is_exact, ratio.total_after) == (True, Decimal("0.6"))


def test_an_infinite_number_is_no_figure_and_spoils_no_other(diff: Diff) -> None:
    found = diff.compare({}, {(DAY, "a"): row(ratio=float("inf"), amount=2)})
    drifts = {one.column: one for one in found.drift}
    assert drifts["ratio"].sum_of_differences is None
    assert drifts["amount"].sum_of_differences == 2
