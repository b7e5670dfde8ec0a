"""What a transform is given, and what it must be: a pure function of its frames and its context.

A transform gets input frames that are already pinned and bounded, reference data of the pinned
version, and this context. It reads no clock, no environment and no other table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from backfill_platform.domain.modes import ExecutionMode, Knowledge
from backfill_platform.domain.partitions import DayRange


@dataclass(frozen=True, slots=True, kw_only=True)
class InputWindow:
    """Which arrivals of one input a single day of output may use, relative to that day.

    A day D may use the input's partitions from D - `before_days` to D + `after_days`, both
    included. A transform applies this to each day, and not to its chunk, so that a day comes out
    the same whatever chunk it is computed in.
    """

    before_days: int
    after_days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformContext:
    run_id: str
    mode: ExecutionMode
    knowledge: Knowledge
    reason: str  # why these numbers change
    run_started_at: datetime  # the injected clock: one instant for the whole run, also for retries
    transform_name: str
    transform_version: str
    config_hash: str
    publish_days: DayRange  # the days that this chunk produces
    windows: Mapping[str, InputWindow]  # by input name
    reference_versions: Mapping[str, str]  # by reference name


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """Spark frames by input name, and loaded reference data by reference name.

    `base` is what the table's own days hold, as pinned, where a table is published by MERGE_BY_KEY;
    no rows where they hold nothing. Other tables are not given what they are about to replace.
    """

    inputs: Mapping[str, Any]
    references: Mapping[str, Any]
    base: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """Returned by a transform that sets rows aside instead of failing on them.

    `rejects` is a frame with the table's partition column, a text `reject_reason`, and whatever
    tells people which row it was. It is kept beside what is staged, counted by day and reason, and
    never published. A reason names a kind of row, in few words and without a row's own values: it
    stands in verdicts and in the evidence.
    """

    rows: Any
    rejects: Any = None

    @classmethod
    def of(cls, returned: Any) -> "Computed":
        """Whatever a transform returned."""
        return returned if isinstance(returned, cls) else cls(rows=returned)


REJECT_REASON = "reject_reason"

TransformFunction = Callable[[Frames, TransformContext], Any]  # a frame, or `Computed`


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformVersion:
    version: str  # semantic version
    function: TransformFunction
    released_on: date
    note: str
    ties: str = ""  # why the order of rows that a window leaves open cannot change what comes out
