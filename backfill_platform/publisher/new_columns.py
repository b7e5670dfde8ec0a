"""Decides whether a publication may give its target other columns, as part of its one commit.

Which changes are harmless and which need consent is decided when a run is planned. Here only what
may have happened since is looked at: another run may have changed the columns too, and without this
look its new column would be removed again, without anybody having agreed to it.
"""

from backfill_platform.domain.contracts import Column
from backfill_platform.domain.errors import TargetMoved
from backfill_platform.domain.publications import Publication
from backfill_platform.lakehouse.delta_files import TableState


def columns_after(publication: Publication, state: TableState) -> tuple[Column, ...]:
    """The target's columns once the publication has landed.

    Invariant: a commit changes only columns whose change was reviewed
    (test_a_column_that_another_run_added_is_not_removed).
    """
    wanted = publication.columns
    if wanted is None:
        return state.columns
    there = {column.name: column for column in state.columns}
    after = {column.name: column for column in wanted}
    moved = sorted(
        name
        for name in there.keys() | after.keys()
        if there.get(name) != after.get(name)
        and not _is_reviewed(publication, name, there.get(name), after.get(name))
    )
    if moved:
        raise _columns_moved(publication, moved, there)
    return wanted


def _is_reviewed(
    publication: Publication, name: str, found: Column | None, wanted: Column | None
) -> bool:
    is_partitioned_by = name in (publication.partition_column, publication.version_column)
    types = (found.type if found else None, wanted.type if wanted else None)
    return not is_partitioned_by and any(
        change.column == name and (change.before, change.after) == types
        for change in publication.schema_changes
    )


def _columns_moved(
    publication: Publication, moved: list[str], there: dict[str, Column]
) -> TargetMoved:
    found = ", ".join(f"{name!r} ({_shape(there.get(name))})" for name in moved)
    return TargetMoved(
        f"{publication.table}: publication {publication.publication_id} would change columns in a "
        f"way that nobody has reviewed: {found}. The target's columns are no longer those that it "
        "was planned on; nothing was changed. Plan a new run for these days",
        days=publication.days,
    )


def _shape(column: Column | None) -> str:
    if column is None:
        return "not in the target"
    return f"{column.type} in the target" + ("" if column.is_nullable else ", not null")
