"""Whether a day has read what it would read now, input day by input day, and a digest over that.

Files are told by their digests, tables by rows and checksums of what was accepted of them; what
nobody is known to have written is no proof. The digest is reckoned once more before it is relied
on, see `engine.carry_out.unchanged`.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.manifests import InputType, PinnedInput
from backfill_platform.domain.measurements import Content
from backfill_platform.domain.partitions import DayRange
from backfill_platform.planner.facts import ReadTable
from backfill_platform.planner.owed import History, current_entry, entry_at, held_content
from backfill_platform.planner.scope import input_days

Inputs = Iterable[PinnedInput]
Tables = Mapping[str, ReadTable]

_NOBODY: History = ()


def has_read_alike(days: DayRange, then: Inputs, now: Inputs, tables: Tables) -> bool:
    """`days` are used as a whole; what they read lies within the windows of both."""
    present = {one.name: one for one in now}
    return all(_is_alike(one, present[one.name], days, tables) for one in then)


def comparison_digest(
    days: DayRange, manifest_digest: str, content: Content, inputs: Inputs, tables: Tables
) -> str:
    """Over the manifest that computed the days, what is accepted of one of them, and all that they
    read, as the pinned inputs hold it."""
    document = {
        "computed_by": manifest_digest,
        "accepted": [content.row_count, content.checksum],
        "read": {one.name: dict(_read_of(one, days, tables)) for one in inputs},
    }
    return hashlib.sha256(canonical_json(document).encode()).hexdigest()


def _is_alike(then: PinnedInput, now: PinnedInput, days: DayRange, tables: Tables) -> bool:
    read = input_days(days, now.window)
    if now.type is InputType.FILES:
        return all(then.files.get(day) == now.files.get(day) for day in read)
    if not (then.snapshot and now.snapshot and now.name in tables):
        return False
    return all(_held_alike(then, now, day, tables[now.name]) for day in read)


def _held_alike(then: PinnedInput, now: PinnedInput, day: date, table: ReadTable) -> bool:
    """Invariant: rows of an input that no run is known to have written prove nothing
    (test_an_input_that_nobody_is_known_to_have_written_proves_nothing)."""
    history = table.histories.get(day, _NOBODY)
    before, after = (entry_at(history, int(one.snapshot)) for one in (then, now))
    counted = (then.rows.get(day, 0), now.rows.get(day, 0))
    known = tuple(entry.row_count if entry else 0 for entry in (before, after))
    is_newest = after == current_entry(history)
    is_held = day in table.held or not history
    has_equal = held_content(before) == held_content(after)
    return counted == known and is_newest and is_held and has_equal


def _read_of(pinned: PinnedInput, days: DayRange, tables: Tables) -> Iterator[tuple[str, object]]:
    """Days that hold nothing are left out."""
    for day in input_days(days, pinned.window):
        if pinned.type is InputType.FILES:
            held: object = pinned.files.get(day)
        else:
            history = tables[pinned.name].histories.get(day, _NOBODY)
            content = held_content(entry_at(history, int(pinned.snapshot)))
            held = content and [content.row_count, content.checksum]
        if held:
            yield day.isoformat(), held
