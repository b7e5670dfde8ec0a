"""Names become folders only below the warehouse's root."""

from pathlib import Path

import pytest

from backfill_platform.lakehouse.paths import Warehouse

WAREHOUSE = Warehouse(Path("/lake"))
RUN = "bf-20260704-case_sla_daily-3.1.0-001"


def test_a_table_lies_in_the_folder_of_its_layer() -> None:
    assert WAREHOUSE.table_path("silver.case_sla_daily") == Path("/lake/silver/case_sla_daily")


def test_staging_lies_below_its_target() -> None:
    assert WAREHOUSE.staging_path("silver.case_sla_daily", RUN) == Path(
        f"/lake/silver/case_sla_daily/runs/{RUN}"
    )


@pytest.mark.parametrize(
    ("path_of", "name"),
    [
        (Warehouse.rejects_path, "rejects"),
        (Warehouse.failing_path, "failing"),
        (Warehouse.diff_path, "diff"),
    ],
)
def test_what_is_kept_about_a_run_lies_where_vacuum_does_not_go(path_of, name: str) -> None:
    found = path_of(WAREHOUSE, "silver.case_sla_daily", RUN)
    assert found == Path(f"/lake/silver/case_sla_daily/_beside/{RUN}/{name}")


@pytest.mark.parametrize(
    "name", ["", "cases", "../x.y", "silver./etc", "silver.a.b", "Silver.x", "silver.x/y", "a.b\n"]
)
def test_a_name_that_is_no_table_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"`layer\.name`"):
        WAREHOUSE.table_path(name)


@pytest.mark.parametrize("run_id", ["", "..", "../" + RUN, RUN + "/..", "_delta_log", RUN + "\n"])
def test_a_name_that_is_no_run_is_refused(run_id: str) -> None:
    with pytest.raises(ValueError, match="not a run id"):
        WAREHOUSE.staging_path("silver.case_sla_daily", run_id)
