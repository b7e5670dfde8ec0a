"""One commit adds rows and columns: nobody sees one without the other, and nothing else changes."""

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.errors import StagingIncomplete, TargetMoved
from backfill_platform.domain.publications import Publication
from backfill_platform.domain.schema_changes import SchemaChange, SchemaChangeKind
from backfill_platform.lakehouse.delta_files import table_columns
from backfill_platform.lakehouse.delta_tables import create_staging_table, create_table
from backfill_platform.publisher.replace_partitions import publish
from backfill_platform_tests.delta_reader import read_table
from backfill_platform_tests.publisher.lives import stage_and_publish
from backfill_platform_tests.publisher.tables import (
    COLUMNS,
    CONTRACT,
    Lake,
    days,
    frame,
    read_rows,
    rows_of,
)

NOTE = Column(name="note", type="string", is_nullable=True)
ADDED = SchemaChange(kind=SchemaChangeKind.ADDED, column="note", before=None, after="string")
REMOVED = SchemaChange(kind=SchemaChangeKind.REMOVED, column="note", before="string", after=None)


def with_note(lake: Lake, number: int = 1, name: str = "note") -> Publication:
    """Staged and reviewed with one column more than the target of `CONTRACT` has."""
    note = replace(NOTE, name=name)
    contract = Contract(columns=(*CONTRACT.columns, note), checks=())
    create_staging_table(lake.staging(number), contract, partition_column="business_date")
    rows = frame(rows_of(f"run{number}", days(1, 1)))
    noted = rows.append_column(name, pa.array(["new"] * rows.num_rows))
    write_deltalake(lake.staging(number), noted, mode="append")
    return replace(
        lake.review(number, days(1, 1)),
        columns=(*COLUMNS, note),
        schema_changes=(replace(ADDED, column=name),),
    )


def entry(lake: Lake, kind: str, version: int) -> list[dict[str, Any]]:
    text = (lake.target / "_delta_log" / f"{version:020d}.json").read_text()
    actions = [json.loads(line) for line in text.splitlines()]
    return [action[kind] for action in actions if kind in action]


def test_rows_and_their_new_column_become_visible_in_one_commit(lake: Lake) -> None:
    stage_and_publish(lake, 9, days(0, 2))
    before = lake.version()
    publish(lake.target, lake.staging(1), with_note(lake))
    assert lake.version() == before + 1
    found = sorted((row["id"], row["note"]) for row in read_table(lake.target))
    assert found == [
        *((row[1], "new") for row in rows_of("run1", days(1, 1))),
        *((row[1], None) for row in rows_of("run9", days(0, 1))),
    ]
    as_delta_rs = DeltaTable(lake.target).to_pyarrow_table(columns=["id", "note"]).to_pylist()
    assert sorted((row["id"], row["note"]) for row in as_delta_rs) == found


def test_a_new_schema_keeps_everything_else_that_the_table_says_of_itself(lake: Lake) -> None:
    table = DeltaTable(lake.target)
    table.alter.set_table_name("totals")
    table.alter.set_table_description("Totals by day.")
    table.alter.set_column_metadata("total", {"comment": "in cents"})
    [before] = entry(lake, "metaData", lake.version())
    publish(lake.target, lake.staging(1), with_note(lake))
    [after] = entry(lake, "metaData", lake.version())
    schemas = [json.loads(said.pop("schemaString"))["fields"] for said in (before, after)]
    assert after == before
    assert before["configuration"] == {"delta.deletedFileRetentionDuration": "interval 30 days"}
    kept = {field["name"]: field for field in schemas[1] if field["name"] != "note"}
    assert kept == {field["name"]: field for field in schemas[0]}


def test_columns_that_the_target_has_already_are_not_written_again(lake: Lake) -> None:
    lake.stage(1, rows_of("run1", days(0, 1)))
    publication = replace(lake.review(1, days(0, 1)), columns=tuple(reversed(COLUMNS)))
    publish(lake.target, lake.staging(1), publication)
    assert entry(lake, "metaData", lake.version()) == []


def test_staged_columns_are_held_against_the_new_ones(lake: Lake) -> None:
    lake.stage(1, rows_of("run1", days(0, 1)))
    publication = replace(
        lake.review(1, days(0, 1)), columns=(*COLUMNS, NOTE), schema_changes=(ADDED,)
    )
    with pytest.raises(StagingIncomplete, match="column 'note' is None here, string in the target"):
        publish(lake.target, lake.staging(1), publication)
    assert read_rows(lake.target) == []


def test_a_column_that_another_run_added_is_not_removed(lake: Lake) -> None:
    first, second = with_note(lake, 1), with_note(lake, 2, "remark")
    publish(lake.target, lake.staging(1), first)
    before = lake.version()
    second = replace(second, base=lake.review(2, days(1, 1)).base)
    with pytest.raises(TargetMoved, match=r"'note' \(string in the target\).*Plan a new run"):
        publish(lake.target, lake.staging(2), second)
    assert lake.version() == before


def test_a_removed_column_is_gone_for_every_reader(lake: Lake) -> None:
    publish(lake.target, lake.staging(1), with_note(lake))
    lake.stage(2, rows_of("run2", days(1, 1)))
    publication = replace(lake.review(2, days(1, 1)), columns=COLUMNS, schema_changes=(REMOVED,))
    publish(lake.target, lake.staging(2), publication)
    assert set(table_columns(DeltaTable(lake.target))) == set(COLUMNS)
    assert read_rows(lake.target) == rows_of("run2", days(1, 1))


def test_the_partition_column_cannot_be_changed(lake: Lake) -> None:
    lake.stage(1, rows_of("run1", days(0, 1)))
    change = SchemaChange(
        kind=SchemaChangeKind.REMOVED, column="business_date", before="date", after=None
    )
    without = tuple(column for column in COLUMNS if column.name != "business_date")
    publication = replace(lake.review(1, days(0, 1)), columns=without, schema_changes=(change,))
    with pytest.raises(TargetMoved, match="'business_date'"):
        publish(lake.target, lake.staging(1), publication)


def test_a_target_with_the_new_columns_is_declared_alike(lake: Lake) -> None:
    publish(lake.target, lake.staging(1), with_note(lake))
    contract = Contract(columns=(*CONTRACT.columns, NOTE), checks=())
    create_table(lake.target, contract, partition_column="business_date")
    assert NOTE in table_columns(DeltaTable(lake.target))
