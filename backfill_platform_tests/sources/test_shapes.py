"""A delivery that is not what its source declares is told from its footers. No JVM."""

from dataclasses import replace
from pathlib import Path

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.errors import ContractBroken
from backfill_platform.sources.shapes import landed_problems, refuse_unreadable
from backfill_platform_tests.readings import READINGS, START, land, week

FIRST = week(days=1)
FOLDER = f"readings/day={START}"
CONTRACT = Contract(
    columns=(
        Column(name="day", type="date", is_nullable=False),
        Column(name="meter", type="string", is_nullable=False),
        Column(name="amount", type="long", is_nullable=False),
    ),
    checks=(),
)


def deliver(landing: Path, name: str = "readings", **columns: arrow.Array | None) -> None:
    usual = {"meter": arrow.array(["a"]), "amount": arrow.array([1], arrow.int64())}
    (landing / FOLDER).mkdir(parents=True, exist_ok=True)
    said = {column: value for column, value in (usual | columns).items() if value is not None}
    parquet.write_table(arrow.table(said), landing / FOLDER / f"{name}.parquet")


def problems(landing: Path) -> tuple[str, ...]:
    return landed_problems(landing, READINGS, CONTRACT, START)


def test_what_is_declared_has_no_problem(tmp_path: Path) -> None:
    land(tmp_path, FIRST)
    assert problems(tmp_path) == ()


def test_a_column_that_nobody_declared_is_named_with_its_file(tmp_path: Path) -> None:
    deliver(tmp_path, phone=arrow.array(["555"]))
    assert problems(tmp_path) == (
        f"{FOLDER}/readings.parquet has column 'phone' (string), which landing.readings does not "
        "declare",
    )


def test_a_column_that_is_missing_is_named_with_its_type(tmp_path: Path) -> None:
    deliver(tmp_path, amount=None)
    assert problems(tmp_path) == (
        f"{FOLDER}/readings.parquet has no column 'amount' (long), which landing.readings declares",
    )


def test_another_type_is_named_with_the_declared_one(tmp_path: Path) -> None:
    deliver(tmp_path, amount=arrow.array(["1"]))
    assert problems(tmp_path) == (
        f"{FOLDER}/readings.parquet holds column 'amount' as string and not as long",
    )


def test_a_narrower_type_that_is_read_rightly_is_no_problem(tmp_path: Path) -> None:
    deliver(tmp_path, amount=arrow.array([1], arrow.int32()))
    assert problems(tmp_path) == ()


def test_a_text_that_is_written_as_a_dictionary_is_a_text(tmp_path: Path) -> None:
    deliver(tmp_path, meter=arrow.array(["a"]).dictionary_encode())
    assert problems(tmp_path) == ()


def test_the_day_may_stand_in_the_file_as_well(tmp_path: Path) -> None:
    deliver(tmp_path, day=arrow.array([START], arrow.date32()))
    assert problems(tmp_path) == ()


def test_a_problem_of_many_files_is_one_sentence(tmp_path: Path) -> None:
    deliver(tmp_path, "one", phone=arrow.array(["555"]))
    deliver(tmp_path, "two", phone=arrow.array(["556"]))
    (said,) = problems(tmp_path)
    assert said.startswith(f"{FOLDER}/one.parquet (and 1 more alike) has column 'phone'")


def test_a_type_that_spark_could_not_read_is_refused_before_anything_is_computed(
    tmp_path: Path,
) -> None:
    deliver(tmp_path, amount=arrow.array(["1"]))
    source = replace(READINGS, owner="meters")
    with pytest.raises(ContractBroken, match=r"'amount' as string and not as long.*Have meters"):
        refuse_unreadable(tmp_path, source, CONTRACT, FIRST)


def test_an_undeclared_column_is_left_to_the_gate(tmp_path: Path) -> None:
    deliver(tmp_path, phone=arrow.array(["555"]))
    refuse_unreadable(tmp_path, READINGS, CONTRACT, FIRST)
    assert len(problems(tmp_path)) == 1
