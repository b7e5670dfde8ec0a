"""The columns of a correction and what they hold, in one place for all that write or read them."""

from enum import StrEnum

from backfill_platform.domain.contracts import Column


class Change(StrEnum):
    """What a correction does to a row."""

    ADDED = "ADDED"  # the row should have been there
    REMOVED = "REMOVED"  # the row should not have been there
    CHANGED = "CHANGED"  # some of its values were wrong


# Beside these, the original's partition column and the platform's lineage, which names the run that
# says so. Values are texts in JSON: see `texts`.
CORRECTION_COLUMNS = (
    Column(name="correction_id", type="string", is_nullable=False),
    Column(name="correction_number", type="integer", is_nullable=False),  # 1, 2, … for each key
    Column(name="event_type", type="string", is_nullable=False),
    Column(name="change", type="string", is_nullable=False),
    Column(name="corrects_table", type="string", is_nullable=False),
    Column(name="corrects_key", type="string", is_nullable=False),  # the original's keys
    # The run that produced the corrected row; nothing where there was none.
    Column(name="corrects_run_id", type="string", is_nullable=True),
    # The correction which this one corrects in turn, if the row had been corrected before.
    Column(name="corrects_correction_id", type="string", is_nullable=True),
    # Whose output the original held of that day: once it is replaced, this correction is history.
    Column(name="original_run_id", type="string", is_nullable=True),
    Column(name="old_values", type="string", is_nullable=True),  # nothing where a row is added
    Column(name="new_values", type="string", is_nullable=True),  # nothing where one is removed
    Column(name="reason", type="string", is_nullable=False),
)

OWN_COLUMNS = frozenset(column.name for column in CORRECTION_COLUMNS)
