"""What the planner is told about the world; `engine` gathers it, the planner only reasons."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from backfill_platform.domain.approvals import ProposedChange, Requirement
from backfill_platform.domain.contracts import Column
from backfill_platform.domain.determinism import Sighting
from backfill_platform.domain.estimates import CostRate, PastChunk
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.limits import Limits
from backfill_platform.domain.manifests import InputType, Manifest, ReplacedManifest
from backfill_platform.domain.measurements import Content
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.privacy import PinnedDeletions
from backfill_platform.domain.runs import RunInFlight
from backfill_platform.planner.owed import History


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFacts:
    """One input as it is now, within the input range."""

    type: InputType
    snapshot: str
    days_present: PartitionSet | None  # nothing when it holds no data in the asked range
    files: Mapping[date, str]
    rows: Mapping[date, int]
    bytes: Mapping[date, int]
    columns: tuple[Column, ...] | None = None  # of a table, as the snapshot has them
    holds_later: bool = False  # something after the asked range


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFacts:
    """The target's columns and those that are declared; where they differ, also what the files that
    stay beside the run's would make of the difference."""

    columns: tuple[Column, ...]
    declared: tuple[Column, ...]
    staying_days: tuple[date, ...] = ()
    perhaps_null: Mapping[str, tuple[date, ...]] = field(
        default_factory=dict[str, tuple[date, ...]]
    )  # by tightened column: the staying days of which the log does not count zero nulls
    held_types: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]]
    )  # by added column: as what staying files hold something under its name


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFacts:
    version: int | None
    fingerprints: Mapping[date, str]  # of the partitions that hold files
    rows: Mapping[date, int]
    bytes: Mapping[date, int]
    rollback_hours: int | None  # how long replaced files stay; nothing where there is no table yet
    output_versions: Mapping[date, str] = field(
        default_factory=dict[date, str]
    )  # that the days show, where every version of the output is kept
    accepted_by: Mapping[date, RunId] = field(default_factory=dict[date, RunId])
    other_days: tuple[date, ...] = ()  # that hold files beside the asked ones; known for a swap
    schema: SchemaFacts | None = None  # nothing where there is no table yet


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFacts:
    digest: str
    config_hash: str
    git_commit: str | None
    is_committed: bool | None  # nothing where there is no repository
    container_image: str | None
    lock_digest: str
    moving: tuple[Sighting, ...] = ()  # what in it may give other rows next time
    run_words: frozenset[str] = frozenset()  # what of its own run it reads, by name


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTable:
    """A table that is read, by day: who has written what, and whether that still lies there."""

    histories: Mapping[date, History]
    held: frozenset[date]  # days that hold what is accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerFacts:
    """What is accepted on the asked days, and what it was computed from."""

    manifests: Mapping[RunId, Manifest]
    shown: Mapping[date, RunId]  # of days that hold, faultless, what this run computed last
    contents: Mapping[date, Content]
    tables: Mapping[str, ReadTable]


NOTHING_FORMER = FormerFacts(manifests={}, shown={}, contents={}, tables={})


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    now: datetime
    inputs: Mapping[str, InputFacts]
    reference_digests: Mapping[str, Mapping[str, str]]  # by reference name and version
    original_references: Mapping[str, frozenset[str]]  # versions used by what is accepted now
    target: TargetFacts
    code: CodeFacts
    in_flight: tuple[RunInFlight, ...]
    past_chunks: tuple[PastChunk, ...]  # of this table, the newest first
    free_bytes: int  # where the warehouse lies
    replaced: ReplacedManifest | None  # the manifest whose scope changes
    replaced_scope_version: int = 0
    deletions: PinnedDeletions | None = None  # whose subjects are left out, as it is now
    has_broker: bool = False  # whether somebody said where topics are
    left_out_before: int = 0  # subjects of the same list, in what is accepted now
    former: FormerFacts = NOTHING_FORMER  # where days may be left as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What governance lays down for every plan."""

    rates: Mapping[str, CostRate]  # by layer; `default` for the others
    limits: Limits
    plan_valid_hours: int
    require_approvals: Callable[[ProposedChange], Requirement]
