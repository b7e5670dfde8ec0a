"""Writes the one log entry of a publication, as a compare-and-swap on the table's version.

It decides nothing: the caller has checked the base and the staged files of the very table value
that it hands in. Any commit by anybody since then makes this one fail, and the caller looks again.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from deltalake import DeltaTable, Schema
from deltalake.transaction import AddAction, CommitProperties, RemoveAction, Transaction

from backfill_platform.domain.publications import Compaction, Publication
from backfill_platform.lakehouse.delta_files import table_columns
from backfill_platform.lakehouse.delta_tables import LIBRARY_ERRORS, delta_schema, translated
from backfill_platform.publisher.output_versions import partitioned_by, replaced_partitions


def commit_replacement(
    table: DeltaTable,
    path: Path,
    publication: Publication,
    adds: Sequence[AddAction],
    *,
    compaction: Compaction | None = None,
) -> int:
    """Adds the files and removes all else in the named days, or in the publication's own version of
    them; the version of the table in which it landed.

    Raises `LostRace` when any other commit came after `table` was loaded. Another error leaves the
    outcome unknown: the entry may be there.
    """
    version = table.version() + 1
    actions: list[AddAction | RemoveAction] = [*adds]
    try:
        table.create_write_transaction(
            actions,
            "overwrite",
            _schema(table, path, publication),
            partitioned_by(publication),
            replaced_partitions(publication),
            commit_properties=_properties(publication, compaction, version),
        )
    except LIBRARY_ERRORS as error:
        raise translated(error, path) from error
    return version


def user_metadata(publication: Publication, compaction: Compaction | None) -> str:
    """Canonical JSON: what Spark's history shows, and what rebuilds the ledger from the log."""
    said = {**publication.commit_info, "publication_id": publication.publication_id}
    if compaction:  # says for good why other files were removed than those that were reviewed
        said["base_compacted_in"] = list(compaction.versions)
    return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _schema(table: DeltaTable, path: Path, publication: Publication) -> Schema:
    """Where it differs from the table's, delta-rs writes it into the same entry, and keeps the
    table's id, name, creation time and configuration
    (test_a_new_schema_keeps_everything_else_that_the_table_says_of_itself)."""
    columns = publication.columns
    if columns is None or set(columns) == set(table_columns(table)):
        return table.schema()
    return delta_schema(path, columns, table.schema())


def _properties(
    publication: Publication, compaction: Compaction | None, version: int
) -> CommitProperties:
    return CommitProperties(
        custom_metadata={"userMetadata": user_metadata(publication, compaction)},
        # The transaction's version is the table's: so the log says where a publication landed.
        app_transactions=[Transaction(publication.publication_id, version)],
        # With retries, delta-rs commits after a concurrent append into the same partition without
        # looking at it, and both sets of rows survive.
        max_commit_retries=0,
    )
