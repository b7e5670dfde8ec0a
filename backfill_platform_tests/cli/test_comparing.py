"""A kept comparison as it is told, without Spark; its table is written by hand here."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
import typer
from deltalake import write_deltalake

from backfill_platform.cli.verbs.compare import watched_key
from backfill_platform.domain.changes import (
    ChangeCount,
    ColumnDrift,
    DimensionCounts,
    DriftUnit,
    WatchedKey,
)
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, load_catalog
from backfill_platform.engine.publish.comparisons import keep_comparison, staged_chunks
from backfill_platform.engine.records import bundle
from backfill_platform_tests.cli.conftest import Call
from backfill_platform_tests.engine.by_hand import stage_by_hand
from backfill_platform_tests.engine.compared import FOUND, kept_comparison
from backfill_platform_tests.modes import PRIVATE, forget
from backfill_platform_tests.readings import BRONZE, week

DAYS = week(days=2)
MODES = "backfill_platform_tests.modes:DECLARATIONS"
SECRET = "subject-4711"
SIDE = pa.struct([("amount", pa.int64())])
FULL = replace(
    FOUND,
    by_column={"amount": 1},
    dimensions=(
        DimensionCounts(
            column="meter",
            values=(ChangeCount(value="a", added=0, removed=0, changed=1, unchanged=3),),
            more_values=2,
        ),
    ),
    drift=(
        ColumnDrift(
            column="amount",
            unit=DriftUnit.NUMBER,
            is_exact=True,
            rows=1,
            sum_of_differences=Decimal(-1250),
            sum_of_absolute_differences=Decimal(1250),
            greatest_difference=Decimal(-1250),
            mean_difference=Decimal("-1250.000000"),
            total_before=Decimal(2000),
            total_after=Decimal(750),
        ),
    ),
    watched=(WatchedKey(key={"meter": "z"}, added=0, removed=0, changed=0, unchanged=0),),
)


@pytest.fixture
def compared(platform: Platform, intent: Callable[..., Any]) -> Callable[..., Manifest]:
    """A staged run with one row that differs, and the record of it."""

    def make(table: str = BRONZE, meter: str = "a", within: Platform = platform) -> Manifest:
        manifest = plan_run(within, intent(table, DAYS, "run"))
        stage_by_hand(within, manifest, dict.fromkeys(DAYS, ("a",)))
        row = {
            "day": pa.array([DAYS.start]),
            "meter": [meter],
            "change": ["CHANGED"],
            "changed_columns": [["amount"]],
            "before": pa.array([{"amount": 2000}], SIDE),
            "after": pa.array([{"amount": 750}], SIDE),
            "samples": [["LARGEST"]],
            "largest_rank": pa.array([1], pa.int32()),
        }
        path = within.warehouse.diff_path(table, manifest.run_id)
        write_deltalake(path, pa.table(row))
        differences = kept_comparison(within, manifest, FULL).differences
        keep_comparison(within, manifest, staged_chunks(within, manifest.run_id), differences)
        return manifest

    return make


def test_an_owner_reads_on_one_screen_what_would_change(
    call: Call, platform: Platform, compared: Callable[..., Manifest]
) -> None:
    manifest = compared()
    answer = call("compare", manifest.run_id, "--show")
    lines = " ".join(answer.stdout.split())
    path = platform.warehouse.diff_path(BRONZE, manifest.run_id)
    assert answer.exit_code == 0
    assert "day=2025-01-01 meter=a changed amount: 2000 → 750" in lines
    assert "amount 1 -1,250 1,250 -1,250 -1,250" in lines
    assert "amount: 2,000 → 750" in lines
    assert "meter=z missing on both sides" in lines
    assert "and 2 more values" in lines
    assert f'DeltaTable("{path}", version=0)' in answer.stdout
    assert f"SELECT * FROM delta.`{path}` VERSION AS OF 0 WHERE" in answer.stdout


def test_a_program_reads_the_same(call: Call, compared: Callable[..., Manifest]) -> None:
    document = call("compare", compared().run_id, "--show", "--json").document
    assert document["found"]["drift"][0]["sum_of_differences"] == "-1250"
    (row,) = document["largest"]
    assert row["values"] == [{"column": "amount", "before": "2000", "after": "750"}]


def test_rows_that_are_no_longer_kept_leave_the_figures(
    call: Call, platform: Platform, compared: Callable[..., Manifest]
) -> None:
    manifest = compared()
    path = platform.warehouse.diff_path(BRONZE, manifest.run_id)
    path.rename(path.with_name("elsewhere"))
    answer = call("compare", manifest.run_id, "--show")
    assert "the rows are no longer kept" in answer.stdout
    assert "-1,250" in answer.stdout


def test_days_that_were_staged_again_are_named(
    call: Call, platform: Platform, compared: Callable[..., Manifest]
) -> None:
    manifest = compared()
    (chunk,) = platform.ledger.chunks(manifest.run_id)
    platform.ledger.fail_chunk(
        manifest.run_id, chunk.chunk_id, chunk.fencing_token, error="tests", now=platform.clock()
    )
    stage_by_hand(platform, manifest, dict.fromkeys(DAYS, ("a",)))
    said = " ".join(call("compare", manifest.run_id, "--show").stdout.split())
    assert "Not compared as it is staged now: 2025-01-01..2025-01-02" in said


def test_without_a_kept_comparison_there_is_nothing_to_show(call: Call, planned: Manifest) -> None:
    answer = call("compare", planned.run_id, "--show")
    assert answer.exit_code == 1
    assert f"`backfill compare {planned.run_id}` makes one" in answer.stderr


def test_what_is_kept_is_shown_as_it_was_asked_for(call: Call, planned: Manifest) -> None:
    answer = call("compare", planned.run_id, "--show", "--by", "meter")
    assert answer.exit_code == 2
    assert "neither --by nor --watch" in answer.stderr


def test_no_private_value_stands_in_a_screen_or_the_evidence(
    call: Call,
    platform: Platform,
    compared: Callable[..., Manifest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forget(platform.landing)
    monkeypatch.setenv("BACKFILL_CATALOG", MODES)
    private = replace(platform, catalog=load_catalog(MODES))
    run_id = compared(PRIVATE, SECRET, private).run_id
    told = [call("compare", run_id, "--show", *more).stdout for more in ([], ["--json"])]
    assert "meter=(private)" in told[0]
    told.append(bundle(private, run_id).records_path.read_text())
    assert [text for text in told if SECRET in text] == []


def test_a_key_is_watched_by_some_of_its_columns(platform: Platform) -> None:
    spec = platform.catalog.tables[BRONZE]
    assert watched_key("meter=a,day=2025-01-01", spec) == {"meter": "a", "day": "2025-01-01"}


@pytest.mark.parametrize(
    ("text", "said"),
    [("meter", "write column=value"), ("amount=3", "there is no 'amount'"), ("meter=", "names no")],
)
def test_what_is_no_key_is_not_watched(platform: Platform, text: str, said: str) -> None:
    with pytest.raises(typer.BadParameter, match=said):
        watched_key(text, platform.catalog.tables[BRONZE])
