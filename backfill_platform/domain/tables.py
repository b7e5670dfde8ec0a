"""How people declare what the platform may rewrite: sources, reference data and tables.

These values only hold the declaration. `domain.catalog` refuses a wrong one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from backfill_platform.domain.announcements import Announcement
from backfill_platform.domain.contracts import DerivedContract
from backfill_platform.domain.limits import NO_LIMITS, Limits
from backfill_platform.domain.modes import (
    Classification,
    LiveConflicts,
    PublishMode,
    PublishScope,
    ReferenceSemantics,
    VersionColumn,
)
from backfill_platform.domain.partitions import Boundary
from backfill_platform.domain.privacy import NOTHING_PRIVATE, Privacy
from backfill_platform.domain.quality import NOTHING_MORE, Quality, gates_of
from backfill_platform.domain.transforms import Frames, TransformContext, TransformVersion
from backfill_platform.domain.verdicts import Gate


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSource:
    """Files that others land below the landing root, one folder `<day_column>=<day>` a day."""

    name: str
    path: str  # relative to the landing root
    day_column: str
    start: date
    schema: type[Any]  # a pandera model
    owner: str
    description: str
    classification: Classification = Classification.INTERNAL
    retention_days: int | None = None  # older data may not be processed, even where it still lies


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceVersion:
    version: str
    recorded_on: date
    path: Path
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceData:
    """Versioned facts that a transform looks up; a version is one file that never changes."""

    name: str
    versions: tuple[ReferenceVersion, ...]
    load: Callable[[Path], Any]
    owner: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A table or source that a transform reads, and how far around a day of output it reads.

    `warm_up_days` are read before a day; `late_days` after it, for arrivals that concern it. A run
    that may use only what was known at the time reads no late days.
    """

    name: str
    warm_up_days: int = 0
    late_days: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceUse:
    name: str
    version: str  # what an ordinary run uses
    semantics: ReferenceSemantics = ReferenceSemantics.CURRENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """Numbers taken from the inputs and, independently, from the staged output; they must agree.

    `from_inputs` returns one row per day of output: the table's partition column and a column per
    measure. `from_output` gives, for the same measures, SQL aggregate expressions over staged rows.
    With `by`, both count for each value of these columns, `from_inputs` returns them too, and the
    figures of a day are the sums: `by` is for measures that can be added up.
    """

    from_inputs: Callable[[Frames, TransformContext], Any]
    from_output: Mapping[str, str]
    by: tuple[str, ...] = ()  # columns of the table


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedMerge:
    """How rows of one key are told apart where a table is published by MERGE_BY_KEY.

    The row with the higher version stays; at equal versions the run's. A deleted key stays as a row
    that says so: forgotten, an older version that arrives late would bring it back.
    """

    version_column: str
    operation_column: str | None = None  # without it nothing is ever deleted
    delete_operation: str = "DELETE"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """A daily-partitioned Delta table, declared once."""

    layer: str
    name: str
    partition_column: str
    start: date
    keys: tuple[str, ...]
    schema: type[Any] | DerivedContract  # a pandera model of the business columns
    inputs: tuple[Input, ...]
    transform_name: str
    transforms: tuple[TransformVersion, ...]
    reconciliation: Reconciliation
    owner: str
    description: str
    references: tuple[ReferenceUse, ...] = ()
    publish_mode: PublishMode = PublishMode.REPLACE_PARTITIONS
    publish_scope: PublishScope = PublishScope.PROGRESSIVE  # unless a run says otherwise
    merge: KeyedMerge | None = None  # for MERGE_BY_KEY
    version_column: VersionColumn | None = None  # for VERSIONED
    live_conflicts: LiveConflicts = LiveConflicts.FREEZE
    frozen_minutes: int = 0  # for live writers, once a run has published; 0 ends it with the commit
    chunk_days: int = 31
    boundary: Boundary = Boundary.DAY  # what a chunk and a publication may not cut
    limits: Limits = NO_LIMITS
    classification: Classification = Classification.INTERNAL
    retention_days: int | None = None  # older data may not be processed, even where it still lies
    config: Mapping[str, str] = field(default_factory=dict[str, str])
    privacy: Privacy = NOTHING_PRIVATE
    announcement: Announcement | None = None  # published rows that are also told on a topic
    may_be_empty: bool = False  # whether a day without rows is a fact or a failure
    quality: Quality = NOTHING_MORE
    # Whether a day is left as it is accepted where all that it is computed from is proved to be as
    # it was then. What a transform takes from elsewhere nobody can compare.
    skips_unchanged: bool = True
    fresh_within_hours: int | None = None  # how old what is accepted may be, as dashboards show it

    @property
    def full_name(self) -> str:
        return f"{self.layer}.{self.name}"

    @property
    def gates(self) -> tuple[Gate, ...]:
        return gates_of(self.quality, is_private=self.privacy != NOTHING_PRIVATE)

    @property
    def usual_scope(self) -> PublishScope:
        """Of a run that says nothing; what is swapped as a whole cannot be shown by chunks."""
        is_swapped = self.publish_mode is PublishMode.SHADOW_SWAP
        if is_swapped and self.publish_scope is PublishScope.PROGRESSIVE:
            return PublishScope.WHOLE_RUN
        return self.publish_scope

    def transform(self, version: str) -> TransformVersion | None:
        return next((known for known in self.transforms if known.version == version), None)
