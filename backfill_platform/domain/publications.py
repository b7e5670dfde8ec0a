"""What a publication adds, what it replaces, and how it may end.

A publication is described before it is made: which staged files become visible, in which
partitions, and which files those partitions held when the run was planned and reviewed.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from backfill_platform.domain.contracts import Column
from backfill_platform.domain.modes import VersionColumn
from backfill_platform.domain.schema_changes import SchemaChange


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """One Parquet file as a Delta log names it; `path` is relative to the table's root."""

    path: str
    day: date
    size_bytes: int
    row_count: int
    statistics: str | None  # Delta's own statistics, JSON
    modified_at_ms: int
    output_version: str | None = None  # where the table keeps every version of its output


def fingerprint(paths: Iterable[str]) -> str:
    """Names the set of files that a partition holds; the empty set has a name too."""
    return hashlib.sha256("\n".join(sorted(paths)).encode()).hexdigest()


EMPTY_PARTITION = fingerprint(())


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """The one commit that makes staged partitions visible.

    `publication_id` is the app transaction: the target's log knows by it whether the commit landed.
    """

    publication_id: str
    table: str
    partition_column: str
    days: tuple[date, ...]  # exactly these partitions change
    files: tuple[DataFile, ...]  # relative to the staging table's root
    base: Mapping[date, str]  # fingerprint of what each partition held when it was reviewed
    commit_info: Mapping[str, Any]  # run id, manifest digest, …; becomes the commit's userMetadata
    # Where every version of the output is kept: only files of this one are replaced.
    version_column: VersionColumn | None = None
    output_version: str | None = None
    is_whole_table: bool = False  # then the target may hold no day but these
    columns: tuple[Column, ...] | None = None  # of the target from then on; as before if nothing
    schema_changes: tuple[SchemaChange, ...] = ()  # the reviewed ones, which lead to `columns`


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """The reviewed rows lay in other files when they were replaced; no row had changed."""

    days: tuple[date, ...]
    versions: tuple[int, ...]  # of the target, which rearranged them, the newest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    version: int
    row_count: int
    files_added: int
    files_removed: int
    attempts: int
    compaction: Compaction | None = None  # of what was replaced, since it was reviewed


@dataclass(frozen=True, slots=True, kw_only=True)
class AlreadyPublished:
    """The target's log shows that this publication landed before; nothing was changed."""

    version: int


PublicationOutcome = Published | AlreadyPublished
