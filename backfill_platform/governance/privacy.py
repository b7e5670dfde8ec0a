"""What a run must protect, and whether the list that it left out is still the one of today. Pure.

A run leaves out exactly the subjects that its manifest pins, so that it gives the same whenever it
is computed. Whoever is listed later is a reason to stop, never one to compute something else.
"""

from collections.abc import Iterable

from backfill_platform.domain.contracts import Contract
from backfill_platform.domain.privacy import (
    NOTHING_PRIVATE,
    ListedSubjects,
    Mask,
    PinnedDeletions,
    Protection,
)
from backfill_platform.domain.tables import FileSource, TableSpec


def protect(spec: TableSpec, listed: ListedSubjects | None) -> Protection:
    return Protection(
        subject_column=spec.privacy.subject_column,
        listed=listed,
        masks=spec.privacy.masks_in(spec.classification),
    )


def private_columns(spec: TableSpec) -> frozenset[str]:
    """Whose values are not to be listed one by one, in a comparison or anywhere else that stays."""
    named = (spec.privacy.subject_column, *spec.privacy.masks_in(spec.classification))
    return frozenset(column for column in named if column is not None)


def kept_of_rejects(
    spec: TableSpec, contract: Contract, inputs: Iterable[TableSpec | FileSource]
) -> frozenset[str] | None:
    """Which columns of rows that were set aside are kept; None keeps all of them.

    As soon as the table or what it reads has something to hide, a column that the table does not
    declare could hold it, so it goes. A masked one stays under SHA256 alone, where it still tells
    which row it was: of a value that is broken, a part or a form of it may show too much.
    """
    sources = tuple(inputs)
    if spec.privacy == NOTHING_PRIVATE and not any(_hides_more(spec, one) for one in sources):
        return None
    masks = spec.privacy.masks_in(spec.classification)
    return frozenset(
        name for name in contract.column_names if masks.get(name, Mask.SHA256) is Mask.SHA256
    )


def _hides_more(spec: TableSpec, source: TableSpec | FileSource) -> bool:
    has_private = isinstance(source, TableSpec) and source.privacy != NOTHING_PRIVATE
    return has_private or source.classification.is_above(spec.classification)


def moved_list(pinned: PinnedDeletions | None, today: PinnedDeletions | None) -> str | None:
    """How today's list differs from the pinned one, in numbers alone."""
    if pinned == today:
        return None
    if today is None:
        return f"deletion list {pinned.name if pinned else ''} is no longer declared"
    if pinned is None or pinned.name != today.name:
        return f"deletion list {today.name} was declared since"
    now = "others" if pinned.subjects == today.subjects else str(today.subjects)
    return (
        f"deletion list {today.name} named {pinned.subjects} subjects when the run was planned, "
        f"and names {now} now"
    )
