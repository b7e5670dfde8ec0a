"""Chooses the version under which a run publishes, where a table keeps every version of its output.

It has to be greater than every version that its days show: consumers see the latest, so anything
else would be published and never seen. What lies beside it stays as it is.
"""

from collections.abc import Iterator
from datetime import date

from backfill_platform.domain.modes import VersionColumn
from backfill_platform.planner.draft import Draft
from backfill_platform.planner.wording import name_days


def choose_output_version(draft: Draft) -> str | None:
    """As the run's partitions are named; nothing where a run replaces what was there."""
    column = draft.spec.version_column
    if column is None:
        return None
    if column is VersionColumn.AS_OF_DATE:
        return str(draft.intent.as_of or draft.today)
    shown = _shown_versions(draft)
    return column.of_rank(max(map(column.rank, shown.values()), default=0) + 1)


def output_version_reasons(draft: Draft) -> Iterator[str]:
    intent, column = draft.intent, draft.spec.version_column
    if intent.as_of is not None and column is not VersionColumn.AS_OF_DATE:
        yield (
            f"{intent.table} keeps no output by `as_of_date`, so it cannot be published as of "
            f"{intent.as_of}; leave `--as-of` out"
        )
    if column is not VersionColumn.AS_OF_DATE:
        return
    if intent.as_of is not None and intent.as_of > draft.today:
        yield (
            f"{intent.as_of} lies in the future (today is {draft.today}), and nobody can say now "
            "what will be known then; leave `--as-of` out, or name an earlier day"
        )
    yield from _not_later(draft, column)


def _not_later(draft: Draft, column: VersionColumn) -> Iterator[str]:
    version, shown = choose_output_version(draft), _shown_versions(draft)
    assert version is not None, "a table by `as_of_date` has a version for every run"
    later = [day for day in shown if column.rank(shown[day]) >= column.rank(version)]
    if later:
        newest = max((shown[day] for day in later), key=column.rank)
        yield (
            f"{name_days(later)} of {draft.intent.table} shows output as of {newest} already, and "
            f"output as of {version} would not be seen behind it; plan it as of a later day "
            "(`--as-of DATE`, today at the latest), or roll back the run that is shown there "
            f"(`backfill history {draft.intent.table} --day {min(later)}` names it)"
        )


def _shown_versions(draft: Draft) -> dict[date, str]:
    """Only of the run's own days: others may have been published more often."""
    shown = draft.facts.target.output_versions
    return {day: shown[day] for day in draft.intent.days if day in shown}
