"""What somebody wants to happen, before anything has been looked up or decided."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.limits import NO_LIMITS, Limits
from backfill_platform.domain.modes import (
    ExecutionMode,
    Knowledge,
    PublishScope,
    ReferenceSemantics,
    RunKind,
)
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.quality import ExpectedChange, Tolerance
from backfill_platform.domain.verdicts import Gate, GateSeverity


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceChoice:
    """A version of reference data other than the table's ordinary one, and what it stands for.

    Without a version the semantics choose it, see `planner.references`.
    """

    version: str | None
    semantics: ReferenceSemantics


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    table: str
    days: PartitionSet
    kind: RunKind
    mode: ExecutionMode
    knowledge: Knowledge
    reason: str
    requested_by: str
    origin: str  # what launched it; whoever comes with the same origin joins the same run
    group_id: str
    ticket: str = ""
    is_full: bool = False  # everything the table has, and not a range somebody chose
    transform_version: str | None = None  # the newest when nothing is said
    references: Mapping[str, ReferenceChoice] = field(default_factory=dict[str, ReferenceChoice])
    limits: Limits = NO_LIMITS  # tightens the policy's own, never loosens them
    requires_manual_publish: bool = False
    publish_scope: PublishScope | None = None  # the table's own when nothing is said
    as_of: date | None = None  # of versioned output; the day of planning when nothing is said
    accepted_schema_changes: frozenset[str] = frozenset()  # columns whose change is consented to
    # How this run is judged otherwise than the table declares; it all stands in the manifest.
    severities: Mapping[Gate, GateSeverity] = field(default_factory=dict[Gate, GateSeverity])
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict[str, Tolerance])
    expected_changes: tuple[ExpectedChange, ...] = ()
    computes_all: bool = False  # also days that would come out as they are accepted
    replaces: RunId | None = None  # an unfinished run whose scope changes
