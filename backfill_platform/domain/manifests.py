"""The manifest: the immutable, content-addressed plan of one run.

Invariant: a manifest never changes once it is planned; its digest names exactly this content
(test_manifest_digest_changes_with_every_field). A change of scope is another manifest.
"""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any, cast

from backfill_platform.domain.identity import GroupId, RunId
from backfill_platform.domain.modes import (
    ExecutionMode,
    Knowledge,
    PublishMode,
    ReferenceSemantics,
    RunKind,
)
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.publications import EMPTY_PARTITION
from backfill_platform.domain.transforms import InputWindow

MANIFEST_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedInput:
    """What is read: apart from, and usually wider than, what is published."""

    name: str
    snapshot: str  # the Delta version of a table, or the digest of a listing of files
    days: DayRange  # what the whole run reads at most, warm-up and late arrivals included
    window: InputWindow  # what a single day of output may use
    files: Mapping[date, str]  # digest by day, for sources of files; empty for tables


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedTarget:
    """What may change, and what it held when the run was planned."""

    table: str
    publish_mode: PublishMode
    partitions: PartitionSet
    base_version: int | None
    base: Mapping[date, str]  # fingerprints of the partitions that were not empty

    def base_of(self, day: date) -> str:
        return self.base.get(day, EMPTY_PARTITION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    run_id: RunId
    group_id: GroupId
    kind: RunKind
    mode: ExecutionMode
    knowledge: Knowledge
    reason: str
    ticket: str
    requested_by: str
    planned_at: datetime
    inputs: tuple[PinnedInput, ...]
    references: tuple[PinnedReference, ...]
    transform: PinnedTransform
    target: PinnedTarget
    chunk_days: int

    @property
    def digest(self) -> str:
        return hashlib.sha256(manifest_json(self).encode()).hexdigest()

    @property
    def input_snapshot(self) -> str:
        """All pinned inputs in one line, as it stands in every published row."""
        return ",".join(f"{pinned.name}@{pinned.snapshot[:16]}" for pinned in self.inputs)

    @property
    def reference_data_version(self) -> str | None:
        """All pinned reference data in one line, as it stands in every published row."""
        return ",".join(f"{use.name}/{use.version}" for use in self.references) or None


def manifest_json(manifest: Manifest) -> str:
    """Canonical: sorted keys, no spaces, plain strings and whole numbers only."""
    document = {"format": MANIFEST_FORMAT, **_plain(manifest)}
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value.value if isinstance(value, StrEnum) else value
        case datetime() | date():
            return value.isoformat()
        case PartitionSet():
            return [_plain(days) for days in value.ranges]
        case Mapping():
            items = cast(Mapping[Any, Any], value).items()
            return {str(_plain(key)): _plain(item) for key, item in items}
        case tuple():
            return [_plain(item) for item in cast(tuple[Any, ...], value)]
        case _:
            return {
                field.name: _plain(getattr(value, field.name))
                for field in dataclasses.fields(value)
            }


def manifest_from_json(text: str) -> Manifest:
    document = json.loads(text)
    return Manifest(
        run_id=RunId(document["run_id"]),
        group_id=GroupId(document["group_id"]),
        kind=RunKind(document["kind"]),
        mode=ExecutionMode(document["mode"]),
        knowledge=Knowledge(document["knowledge"]),
        reason=document["reason"],
        ticket=document["ticket"],
        requested_by=document["requested_by"],
        planned_at=datetime.fromisoformat(document["planned_at"]),
        inputs=tuple(_read_input(item) for item in document["inputs"]),
        references=tuple(
            PinnedReference(**{**item, "semantics": ReferenceSemantics(item["semantics"])})
            for item in document["references"]
        ),
        transform=PinnedTransform(**document["transform"]),
        target=_read_target(document["target"]),
        chunk_days=document["chunk_days"],
    )


def _read_input(item: Mapping[str, Any]) -> PinnedInput:
    return PinnedInput(
        name=item["name"],
        snapshot=item["snapshot"],
        days=_read_range(item["days"]),
        window=InputWindow(**item["window"]),
        files={date.fromisoformat(day): digest for day, digest in item["files"].items()},
    )


def _read_target(item: Mapping[str, Any]) -> PinnedTarget:
    return PinnedTarget(
        table=item["table"],
        publish_mode=PublishMode(item["publish_mode"]),
        partitions=PartitionSet(tuple(_read_range(days) for days in item["partitions"])),
        base_version=item["base_version"],
        base={date.fromisoformat(day): digest for day, digest in item["base"].items()},
    )


def _read_range(item: Mapping[str, str]) -> DayRange:
    return DayRange(date.fromisoformat(item["start"]), date.fromisoformat(item["end_exclusive"]))
