"""How landed and staged columns differ from what is declared, day by day. No JVM."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from deltalake import DeltaTable, Field
from deltalake.schema import PrimitiveType

from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.carry_out.shapes import shape_problems
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform_tests.readings import BRONZE, week

DAYS = week(days=2)
FIRST, SECOND = DAYS


@pytest.fixture
def started(platform: Platform, intent) -> Manifest:
    manifest = plan_run(platform, intent(BRONZE, DAYS, "shapes"))
    start_run(platform, manifest.run_id)
    return manifest


def deliver_phones(landing: Path) -> None:
    rows = pa.table({"meter": ["a"], "amount": pa.array([1], pa.int64()), "phone": ["555"]})
    parquet.write_table(rows, landing / "readings" / f"day={SECOND}" / "more.parquet")


def test_what_is_as_declared_has_no_problem(platform: Platform, started: Manifest) -> None:
    assert shape_problems(platform, started, DAYS) == {}


def test_a_day_answers_for_its_own_files_alone(platform: Platform, started: Manifest) -> None:
    deliver_phones(platform.landing)
    (problem,) = shape_problems(platform, started, DAYS)[SECOND]
    assert f"day={SECOND}/more.parquet has column 'phone' (string)" in problem
    assert FIRST not in shape_problems(platform, started, DAYS)


def test_a_staged_column_that_nobody_declared_is_a_problem_of_every_day(
    platform: Platform, started: Manifest
) -> None:
    staging = DeltaTable(platform.warehouse.staging_path(BRONZE, started.run_id))
    staging.alter.add_columns([Field("phone", PrimitiveType("string"))])
    problem = "staging has column 'phone' (string), which is not declared"
    assert shape_problems(platform, started, DAYS) == {FIRST: (problem,), SECOND: (problem,)}
