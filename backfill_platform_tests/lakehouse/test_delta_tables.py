"""Tables as the platform creates them, and what it reads of a table from its log alone."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake

from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.errors import DeclarationInvalid, EngineUnavailable, UnsupportedTable
from backfill_platform.domain.publications import EMPTY_PARTITION
from backfill_platform.domain.schema_changes import compare_schemas
from backfill_platform.lakehouse.delta_log import read_commit, read_log_mark
from backfill_platform.lakehouse.delta_tables import (
    create_staging_table,
    create_table,
    published_version,
    read_held_rows,
    read_table_state,
    staged_files,
)
from backfill_platform_tests.publisher.tables import (
    COLUMNS,
    CONTRACT,
    FIRST,
    append,
    days,
    frame,
    rows_of,
)

READER_AND_WRITER = {"minReaderVersion": 3, "minWriterVersion": 7}
WRITER = {"minReaderVersion": 1, "minWriterVersion": 7}
LATER = Column(name="later", type="string", is_nullable=True)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "silver" / "totals_daily"
    create_table(path, CONTRACT, partition_column="business_date")
    return path


def with_column(name: str, type_: str) -> Contract:
    added = Column(name=name, type=type_, is_nullable=True)
    return Contract(columns=(*CONTRACT.columns, added), checks=())


def test_a_created_table_stays_at_the_protocol_that_every_engine_knows(table: Path) -> None:
    protocol = DeltaTable(table).protocol()
    assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2)


def test_a_created_table_keeps_replaced_files_for_the_rollback_window(tmp_path: Path) -> None:
    create_table(
        tmp_path / "t",
        CONTRACT,
        partition_column="business_date",
        rollback_window="interval 90 days",
    )
    assert DeltaTable(tmp_path / "t").metadata().configuration == {
        "delta.deletedFileRetentionDuration": "interval 90 days"
    }


def test_creating_a_table_twice_changes_nothing(table: Path) -> None:
    create_table(table, CONTRACT, partition_column="business_date")
    assert DeltaTable(table).version() == 0


def test_a_table_with_another_schema_is_refused_by_column(table: Path) -> None:
    other = Contract(
        columns=(
            Column(name="id", type="long", is_nullable=False),
            Column(name="business_date", type="date", is_nullable=False),
            Column(name="amount", type="decimal(12,2)", is_nullable=True),
        ),
        checks=(),
    )
    with pytest.raises(DeclarationInvalid) as refused:
        create_table(table, other, partition_column="business_date")
    assert refused.value.problem == (
        "the table exists with another schema: column 'amount' is missing; "
        "column 'id' is string not null and not long not null; column 'total' is not declared. "
        "Declare what it holds, or plan a run that changes it"
    )


def test_a_table_whose_schema_a_run_will_change_is_left_as_it_is(table: Path) -> None:
    other = with_column("note", "string")
    changes = compare_schemas(CONTRACT.columns, other.columns)
    create_table(table, other, partition_column="business_date", planned=changes)
    assert "note" not in DeltaTable(table).to_pyarrow_table().column_names


def test_a_column_that_nobody_planned_is_refused_beside_a_planned_one(table: Path) -> None:
    both = Contract(columns=(*with_column("note", "string").columns, LATER), checks=())
    changes = compare_schemas(CONTRACT.columns, (*CONTRACT.columns, LATER))
    with pytest.raises(DeclarationInvalid, match=r"schema: column 'note' is missing\."):
        create_table(table, both, partition_column="business_date", planned=changes)


def test_a_table_partitioned_by_another_column_is_refused(tmp_path: Path) -> None:
    contract = with_column("loaded_on", "date")
    create_table(tmp_path, contract, partition_column="loaded_on")
    with pytest.raises(DeclarationInvalid, match=r"partitioned by \['loaded_on'\]"):
        create_table(tmp_path, contract, partition_column="business_date")


def test_staging_takes_nulls_except_in_its_partition_column(tmp_path: Path) -> None:
    create_staging_table(tmp_path, CONTRACT, partition_column="business_date")
    state = read_table_state(tmp_path, None)
    assert state is not None
    assert [column.name for column in state.columns if not column.is_nullable] == ["business_date"]


@pytest.mark.parametrize("type_", ["timestamp_ntz", "variant"])
def test_a_column_that_would_raise_the_protocol_is_refused(tmp_path: Path, type_: str) -> None:
    with pytest.raises(UnsupportedTable, match="'odd' of type"):
        create_table(tmp_path, with_column("odd", type_), partition_column="business_date")


def test_a_column_of_an_unknown_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeclarationInvalid, match="'money' is not a simple Delta type"):
        create_table(tmp_path, with_column("odd", "money"), partition_column="business_date")


def test_no_table_has_no_state(tmp_path: Path) -> None:
    assert read_table_state(tmp_path / "nothing", None) is None
    assert published_version(tmp_path / "nothing", "any") is None
    assert staged_files(tmp_path / "nothing", None) == ()


def test_the_state_tells_version_columns_and_rows_by_day(table: Path) -> None:
    append(table, rows_of("a", days(0, 2)))
    append(table, rows_of("b", days(1, 1), per_day=3))
    state = read_table_state(table, None)
    assert state is not None
    assert (state.version, state.partition_column, state.columns) == (2, "business_date", COLUMNS)
    assert state.row_counts == {FIRST: 2, date(2025, 1, 2): 5}


def test_the_state_of_named_days_leaves_out_all_others(table: Path) -> None:
    append(table, rows_of("a", days(0, 5)))
    state = read_table_state(table, days(3, 3))
    assert state is not None
    assert list(state.files) == [date(2025, 1, 4), date(2025, 1, 5)]
    assert state.row_counts == {date(2025, 1, 4): 2, date(2025, 1, 5): 2, date(2025, 1, 6): 0}
    assert state.fingerprints[date(2025, 1, 6)] == EMPTY_PARTITION


def test_a_fingerprint_moves_with_its_day_and_with_no_other(table: Path) -> None:
    append(table, rows_of("a", days(0, 2)))
    before = read_table_state(table, days(0, 2))
    append(table, rows_of("b", days(1, 1)))
    after = read_table_state(table, days(0, 2))
    assert before is not None
    assert after is not None
    assert before.fingerprints[FIRST] == after.fingerprints[FIRST]
    assert before.fingerprints[date(2025, 1, 2)] != after.fingerprints[date(2025, 1, 2)]


def test_rows_are_counted_in_the_file_when_its_writer_kept_no_statistics(table: Path) -> None:
    append(table, rows_of("a", days(0, 1), per_day=7))
    edit_log(table, 1, "add", lambda add: add | {"stats": None})
    state = read_table_state(table, None)
    assert state is not None
    assert state.row_counts == {FIRST: 7}


def test_who_only_counts_is_told_the_rows_that_the_state_tells(table: Path) -> None:
    append(table, rows_of("a", days(0, 2)))
    append(table, rows_of("b", days(1, 1), per_day=3))
    held = read_held_rows(table)
    assert held is not None
    assert (held.version, held.rows) == (2, {FIRST: 2, date(2025, 1, 2): 5})


def test_who_only_counts_looks_into_files_whose_writer_kept_no_statistics(table: Path) -> None:
    append(table, rows_of("a", days(0, 1), per_day=7))
    edit_log(table, 1, "add", lambda add: add | {"stats": None})
    held = read_held_rows(table)
    assert held is not None
    assert held.rows == {FIRST: 7}


def test_who_only_counts_is_told_where_there_is_no_table(tmp_path: Path) -> None:
    assert read_held_rows(tmp_path / "nothing") is None


def test_a_log_has_another_mark_after_each_commit(table: Path) -> None:
    before = read_log_mark(table)
    append(table, rows_of("a", days(0, 1)))
    after = read_log_mark(table)
    assert before is not None
    assert before != after
    assert after == read_log_mark(table)


def test_a_log_that_is_cleaned_up_has_another_mark(table: Path) -> None:
    append(table, rows_of("a", days(0, 1)))
    before = read_log_mark(table)
    (table / "_delta_log" / f"{0:020d}.json").unlink()
    assert read_log_mark(table) != before


def test_where_there_is_no_log_there_is_no_mark(tmp_path: Path) -> None:
    (tmp_path / "empty" / "_delta_log").mkdir(parents=True)
    assert read_log_mark(tmp_path / "empty") is None
    assert read_log_mark(tmp_path / "nothing") is None


def test_staged_files_carry_their_statistics_word_for_word(table: Path) -> None:
    append(table, rows_of("a", days(0, 1)))
    edit_log(table, 1, "add", lambda add: add | {"stats": '{"numRecords": 2, "odd": "kept"}'})
    (file,) = staged_files(table, None)
    assert (file.day, file.row_count) == (FIRST, 2)
    assert file.statistics == '{"numRecords": 2, "odd": "kept"}'


def test_staged_files_keep_their_count_when_the_log_entry_is_gone(table: Path) -> None:
    append(table, rows_of("a", days(0, 1)))
    DeltaTable(table).create_checkpoint()
    (table / "_delta_log" / f"{1:020d}.json").unlink()
    (file,) = staged_files(table, days(0, 1))
    assert file.statistics == '{"numRecords": 2}'


def test_staged_files_are_the_active_ones(table: Path) -> None:
    append(table, rows_of("a", days(0, 2)))
    write_deltalake(
        table,
        frame(rows_of("b", days(0, 1))),
        mode="overwrite",
        predicate="business_date = '2025-01-01'",
    )
    assert len(staged_files(table, None)) == 2


def test_a_commit_tells_who_made_it_and_when(table: Path) -> None:
    append(table, rows_of("a", days(0, 1)))
    commit = read_commit(table, 1)
    assert commit is not None
    assert commit.committed_at is not None
    assert (commit.operation, commit.author) == ("WRITE", "delta-rs:py-1.6.6")
    assert list(commit.added.values()) == [FIRST]
    assert commit.committed_at.utcoffset() is not None


def test_a_commit_that_is_not_there_is_nothing(table: Path) -> None:
    assert read_commit(table, 99) is None


@pytest.mark.parametrize(
    ("feature", "protocol"),
    [
        ("deletionVectors", READER_AND_WRITER),
        ("columnMapping", READER_AND_WRITER),
        ("v2Checkpoint", READER_AND_WRITER),
        ("typeWidening", READER_AND_WRITER),
        ("aFeatureOfTheFuture", READER_AND_WRITER),
        ("rowTracking", WRITER),
        ("inCommitTimestamp", WRITER),
        ("checkConstraints", WRITER),
    ],
)
def test_a_table_with_an_unsupported_feature_is_refused_by_name(
    table: Path, feature: str, protocol: dict[str, int]
) -> None:
    lists = {"readerFeatures": [feature]} if protocol == READER_AND_WRITER else {}
    features = {**lists, "writerFeatures": [feature, "invariants"]}
    edit_log(table, 0, "protocol", lambda _: protocol | features)
    with pytest.raises(UnsupportedTable, match=feature) as refused:
        read_table_state(table, None)
    assert str(table) in str(refused.value)


def test_a_table_at_an_old_writer_version_is_refused_by_what_it_switches_on(table: Path) -> None:
    edit_log(table, 0, "protocol", lambda old: old | {"minWriterVersion": 3})
    with pytest.raises(UnsupportedTable, match="checkConstraints"):
        read_table_state(table, None)


def test_an_append_only_table_is_refused(tmp_path: Path) -> None:
    append_only = {"delta.appendOnly": "true"}
    create_table(tmp_path, CONTRACT, partition_column="business_date", configuration=append_only)
    with pytest.raises(UnsupportedTable, match="appendOnly"):
        read_table_state(tmp_path, None)


def test_a_table_partitioned_by_something_else_than_days_is_refused(tmp_path: Path) -> None:
    write_deltalake(tmp_path, frame(rows_of("a", days(0, 1))), partition_by="id")
    with pytest.raises(UnsupportedTable, match="is partitioned by a date column"):
        read_table_state(tmp_path, None)


def test_a_log_that_cannot_be_read_is_an_error_of_the_domain(table: Path) -> None:
    append(table, rows_of("a", days(0, 1)))
    (table / "_delta_log" / f"{1:020d}.json").write_text("not a log")
    with pytest.raises(EngineUnavailable, match="could not be read"):
        read_table_state(table, None)


def edit_log(
    table: Path, version: int, kind: str, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    """Makes the table of somebody else, who uses what the platform does not."""
    entry = table / "_delta_log" / f"{version:020d}.json"
    actions = [json.loads(line) for line in entry.read_text().splitlines()]
    edited = [{kind: change(action[kind])} if kind in action else action for action in actions]
    entry.write_text("\n".join(json.dumps(action, separators=(",", ":")) for action in edited))
