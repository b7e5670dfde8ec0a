"""Writes into a staging table's log what its files hold, where Spark was not asked to count it.

Every file is named once more with its statistics; nothing else changes. Before that its rows are
counted from its footer by whoever asks, so a crash in between loses nothing but time.
"""

from pathlib import Path

from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, CommitProperties

from backfill_platform.domain.errors import EngineUnavailable
from backfill_platform.lakehouse.delta_files import add_actions, table_columns
from backfill_platform.lakehouse.delta_tables import LIBRARY_ERRORS, open_table, translated
from backfill_platform.lakehouse.footer_statistics import footer_statistics

_TRIES = 20  # chunks of one run that are staged at the same time
_TOLD = ["path", "size_bytes", "modification_time"]


def log_statistics(path: Path) -> None:
    """Of every active file that has none.

    Invariant: a file that another attempt has replaced meanwhile does not come back: whoever is
    overtaken by any commit looks at the log again
    (test_a_file_that_was_replaced_meanwhile_does_not_come_back).
    """
    for _ in range(_TRIES):
        table = open_table(path)
        if table is None or log_those_of(table, path):
            return
    raise EngineUnavailable(f"{path}: others kept writing to its log; try again")


def log_those_of(table: DeltaTable, path: Path) -> bool:
    """As this version of the table names its files; false where another commit came after it."""
    try:
        adds = _adds(table, path)
        if adds:
            table.create_write_transaction(
                [*adds],
                "append",
                table.schema(),
                table.metadata().partition_columns,
                commit_properties=CommitProperties(max_commit_retries=0),
            )
    except CommitFailedError:
        return False
    except LIBRARY_ERRORS as error:
        raise translated(error, path) from error
    return True


def _adds(table: DeltaTable, path: Path) -> list[AddAction]:
    actions, partitioned_by = add_actions(table), table.metadata().partition_columns
    columns = [one for one in table_columns(table) if one.name not in partitioned_by]
    uncounted = actions.filter(actions.column("num_records").is_null()).select(_TOLD)
    return [
        AddAction(
            path=file["path"],
            size=file["size_bytes"],
            partition_values=_partition_values(file["path"]),
            modification_time=file["modification_time"],
            data_change=False,
            stats=footer_statistics(path / file["path"], columns),
        )
        for file in uncounted.to_pylist()
    ]


def _partition_values(path: str) -> dict[str, str | None]:
    """As its folders name them."""
    named = (folder.partition("=") for folder in path.split("/")[:-1])
    return {name: value for name, _, value in named}
