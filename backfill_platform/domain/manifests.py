"""The manifest: the immutable, content-addressed plan of one run.

Invariant: a manifest never changes once it is planned; its digest names exactly this content
(test_manifest_digest_changes_with_every_field). A change of scope is another manifest, which names
the one that it replaces. A plan that is shown, a dry run and the run itself read this one value.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from backfill_platform.domain.approvals import Requirement
from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.errors import EvidenceBroken
from backfill_platform.domain.estimates import Estimate
from backfill_platform.domain.findings import Finding
from backfill_platform.domain.identity import GroupId, RunId
from backfill_platform.domain.impacts import Impact
from backfill_platform.domain.limits import Limits
from backfill_platform.domain.modes import (
    ExecutionMode,
    Knowledge,
    LiveConflicts,
    PublishMode,
    PublishScope,
    ReferenceSemantics,
    RunKind,
    VersionColumn,
)
from backfill_platform.domain.partitions import Boundary, DayRange, PartitionSet
from backfill_platform.domain.plain import from_plain, to_plain
from backfill_platform.domain.privacy import PinnedDeletions
from backfill_platform.domain.publications import EMPTY_PARTITION
from backfill_platform.domain.quality import (
    ChangeBound,
    ExpectedChange,
    Tolerance,
    WatermarkPolicy,
)
from backfill_platform.domain.schema_changes import SchemaChange
from backfill_platform.domain.transforms import InputWindow
from backfill_platform.domain.verdicts import GateSeverity

MANIFEST_FORMAT = 5

# What each format added, by place. A run of an older one is read with what these mean when nothing
# is said, and written without them: its text and its digest, which people agreed to, stay.
_ADDED: Mapping[int, Mapping[str, tuple[str, ...]]] = {
    3: {
        "target": (
            *("publish_scope", "live_conflicts", "version_column", "output_version"),
            *("schema_changes", "topic"),
        ),
        "": ("deletions",),
    },
    4: {
        "validation": (
            *("quality_digest", "severities", "tolerances", "changes", "expected_changes"),
            *("overridden", "watermark"),
        ),
    },
    5: {"": ("unchanged", "computes_all")},
}
_OLDEST_FORMAT = min(_ADDED) - 1

SKIPS = '"unchanged":[{'  # as it stands in the text of a run that does not compute all its days
DARK = f'"publish_scope":"{PublishScope.DARK}"'  # as it stands in the text of a candidate

NEVER_PUBLISHING = frozenset({ExecutionMode.DRY_RUN, ExecutionMode.RECONCILIATION})


class InputType(StrEnum):
    TABLE = "DELTA_TABLE"
    FILES = "FILES"


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedInput:
    """What is read: apart from, and usually wider than, what is published."""

    name: str
    type: InputType
    snapshot: str  # the Delta version of a table, or the digest of a listing of files
    days: DayRange  # what the whole run reads at most, warm-up and late arrivals included
    window: InputWindow  # what a single day of output may use
    files: Mapping[date, str]  # digest by day, for sources of files; empty for tables
    rows: Mapping[date, int]  # by day, as the log or the files' footers say
    schema_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedReference:
    name: str
    version: str
    semantics: ReferenceSemantics
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedTransform:
    name: str
    version: str
    code_digest: str
    config_hash: str
    git_commit: str | None
    container_image: str | None
    lock_digest: str  # of every distribution that is installed, with its version


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedTarget:
    """What may change, and what it held when the run was planned."""

    table: str
    publish_mode: PublishMode
    publish_scope: PublishScope = PublishScope.PROGRESSIVE
    live_conflicts: LiveConflicts = LiveConflicts.FREEZE  # who gives way to whom
    version_column: VersionColumn | None = None  # where every version of the output is kept
    output_version: str | None = None  # the run's own, as its partitions are named
    schema_changes: tuple[SchemaChange, ...] = ()
    topic: str | None = None  # on which the published rows are told as well
    partitions: PartitionSet
    boundary: Boundary  # what neither a chunk nor a publication may cut
    base_version: int | None
    base: Mapping[date, str]  # fingerprints of the partitions that were not empty
    schema_digest: str

    def base_of(self, day: date) -> str:
        return self.base.get(day, EMPTY_PARTITION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Safety:
    side_effects_allowed: bool
    requires_manual_publish: bool  # staged and judged, it waits for somebody to publish it
    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """How the run is judged: as its table declared it when it was planned, or as the run says."""

    gates: tuple[str, ...]  # each has to give a verdict on each day before anything is published
    count_tolerance: int
    checksum_required: bool
    quality_digest: str | None = None  # of all that the table declares about its content
    severities: Mapping[str, GateSeverity] = field(default_factory=dict[str, GateSeverity])
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict[str, Tolerance])  # by measure
    changes: tuple[ChangeBound, ...] = ()
    expected_changes: tuple[ExpectedChange, ...] = ()
    overridden: tuple[str, ...] = ()  # what the run says otherwise than its table, as sentences
    watermark: WatermarkPolicy = WatermarkPolicy.BY_TIME_PARTITION


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedManifest:
    run_id: RunId
    manifest_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnchangedDays:
    """Days that are not computed, for they would come out as an earlier run has computed them."""

    run_id: RunId  # whose rows consumers see
    manifest_digest: str  # of its manifest, which names the same code, data and configuration
    compared: Mapping[date, str]  # by day: a digest over what it had read, reads now and holds

    @property
    def days(self) -> PartitionSet:
        return PartitionSet.of_days(self.compared)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    format: int = MANIFEST_FORMAT
    run_id: RunId
    group_id: GroupId
    scope_version: int  # 1, and one more with each change of scope
    replaces: ReplacedManifest | None
    undoes: ReplacedManifest | None = None  # whose published partitions a rollback takes back
    kind: RunKind
    mode: ExecutionMode
    knowledge: Knowledge
    reason: str
    ticket: str
    requested_by: str
    planned_at: datetime
    valid_until: datetime  # whoever has not begun by then has to plan again
    is_full: bool
    inputs: tuple[PinnedInput, ...]
    references: tuple[PinnedReference, ...]
    deletions: PinnedDeletions | None = None  # whose subjects are left out
    transform: PinnedTransform
    target: PinnedTarget
    chunk_days: int
    safety: Safety
    validation: Validation
    approval: Requirement
    estimate: Estimate
    impacts: tuple[Impact, ...]
    findings: tuple[Finding, ...]
    unchanged: tuple[UnchangedDays, ...] = ()
    computes_all: bool = False  # as somebody asked, whatever is unchanged

    @property
    def digest(self) -> str:
        return manifest_digest(manifest_json(self))

    @property
    def chunks(self) -> tuple[DayRange, ...]:
        """As the plan cuts them; Dagster may cut otherwise, within limits and boundaries."""
        return self.target.partitions.split(self.chunk_days, self.target.boundary)

    @property
    def unchanged_days(self) -> frozenset[date]:
        return frozenset(day for one in self.unchanged for day in one.compared)

    def computed_parts(self, days: DayRange) -> tuple[DayRange, ...]:
        """What of these days is computed, in contiguous parts; nothing where all is unchanged."""
        unchanged = self.unchanged_days
        computed = [day for day in days if day not in unchanged]
        return PartitionSet.of_days(computed).ranges if computed else ()

    @property
    def never_publishes(self) -> bool:
        """It ends with what is staged and judged, and nobody has to be asked for more."""
        is_dark = self.target.publish_scope is PublishScope.DARK
        return is_dark or self.mode in NEVER_PUBLISHING

    @property
    def input_snapshot(self) -> str:
        """All pinned inputs in one line, as it stands in every published row."""
        return ",".join(f"{pinned.name}@{pinned.snapshot[:16]}" for pinned in self.inputs)

    @property
    def reference_data_version(self) -> str | None:
        """All pinned reference data in one line, as it stands in every published row."""
        return ",".join(f"{use.name}/{use.version}" for use in self.references) or None


def is_dark(text: str) -> bool:
    """Whether this is the manifest of a candidate; without reading all of it, and of any format.

    It is canonical, so a name and its value stand side by side, and a quote inside a text does not
    look like one.
    """
    return DARK in text


def lets_live_beside(text: str) -> bool:
    """Whether a live run may write the same days, told as in `is_dark`."""
    return any(
        f'"live_conflicts":"{policy}"' in text
        for policy in LiveConflicts
        if policy is not LiveConflicts.FREEZE
    )


def planned_estimate(text: str) -> Estimate:
    """What a run was expected to take, without reading the rest of its manifest."""
    return from_plain(Estimate, json.loads(text)["estimate"])


def manifest_json(manifest: Manifest) -> str:
    """Canonical JSON: one text for equal manifests."""
    document = to_plain(manifest)
    for part, names in _parts_since(manifest.format, document):
        for name in names:
            del part[name]
    return canonical_json(document)


def manifest_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def manifest_from_json(text: str) -> Manifest:
    try:
        document = json.loads(text)
        written = document["format"]
        if written not in range(_OLDEST_FORMAT, MANIFEST_FORMAT + 1):
            raise ValueError(f"it has format {written}")
        return from_plain(Manifest, _completed(document, written))
    except (AttributeError, KeyError, TypeError, ValueError) as wrong:
        raise EvidenceBroken(
            f"This is no manifest of format {_OLDEST_FORMAT} to {MANIFEST_FORMAT}: {wrong}. A run "
            "that another version of the platform planned is read with that version"
        ) from wrong


def _completed(document: dict[str, Any], written: int) -> dict[str, Any]:
    unsaid = {
        unsaid.name: to_plain(_meant_by(unsaid))
        for kind in (Manifest, PinnedTarget, Validation)
        for unsaid in fields(kind)
        if unsaid.default is not MISSING or unsaid.default_factory is not MISSING
    }
    for part, names in _parts_since(written, document):
        for name in names:
            if name in part:
                raise ValueError(f"format {written} has no {name}")
            part[name] = unsaid[name]
    return document


def _meant_by(unsaid: Any) -> Any:
    return unsaid.default_factory() if unsaid.default is MISSING else unsaid.default


def _parts_since(
    written: int, document: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    for added, places in _ADDED.items():
        if added > written:
            for place, names in places.items():
                yield document[place] if place else document, names
