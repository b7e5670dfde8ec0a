"""What a run must protect, and whether the list that it left out is still the one of today. Pure.

A run leaves out exactly the subjects that its manifest pins, so that it gives the same whenever it
is computed. Whoever is listed later is a reason to stop, never one to compute something else.
"""

from backfill_platform.domain.privacy import ListedSubjects, PinnedDeletions, Protection
from backfill_platform.domain.tables import TableSpec


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
