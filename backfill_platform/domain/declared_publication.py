"""Whether what a table declares about its publication can be kept: how, and beside live writers.

Which rows stay in a keyed merge is decided in `executor.merging`; here only whether the declared
columns can decide it. Days that may not be published are refused by `planner.mode_reasons`.
"""

import re
from collections.abc import Mapping

from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.modes import LiveConflicts, PublishMode, VersionColumn
from backfill_platform.domain.tables import KeyedMerge, TableSpec

# What each way of publishing can hold; where it is not named, live writers can only be frozen out.
LIVE_CONFLICTS: Mapping[PublishMode, frozenset[LiveConflicts]] = {
    PublishMode.MERGE_BY_KEY: frozenset({LiveConflicts.FREEZE, LiveConflicts.MERGE_BY_VERSION}),
    PublishMode.VERSIONED: frozenset({LiveConflicts.FREEZE, LiveConflicts.VERSIONED}),
}
TOPIC_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
ONLY_FREEZE = frozenset({LiveConflicts.FREEZE})

# Text orders "10" before "9" and floating numbers round, so both would drop newer rows in silence.
ORDERED_TYPES = frozenset(
    {"byte", "short", "integer", "long", "date", "timestamp", "timestamp_ntz"}
)


def check_publication(spec: TableSpec, contract: Contract) -> None:
    if not isinstance(spec.publish_mode, PublishMode):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _invalid(spec, "publish_mode", f"{spec.publish_mode!r} is not of type PublishMode")
    _check_version_column(spec, contract)
    _check_merge(spec, contract)
    _check_live_conflicts(spec)
    _check_announcement(spec)


def _check_announcement(spec: TableSpec) -> None:
    """What is told is found by comparing what a day held before and after, key by key."""
    if spec.announcement is None:
        return
    if not TOPIC_NAME.fullmatch(spec.announcement.topic):
        raise _invalid(
            spec,
            "announcement",
            f"{spec.announcement.topic!r} is no name of a topic; use letters, digits, . _ and -",
        )
    if spec.publish_mode is PublishMode.VERSIONED:
        raise _invalid(
            spec,
            "announcement",
            "every version of its output is kept, so no row ever goes; leave it out",
        )


def _check_version_column(spec: TableSpec, contract: Contract) -> None:
    """Its column is the platform's: declared as a choice, and filled by staging."""
    column, is_kept = spec.version_column, spec.publish_mode is PublishMode.VERSIONED
    choices = " or ".join(f"VersionColumn.{choice.name}" for choice in VersionColumn)
    if column is not None and not isinstance(column, VersionColumn):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _invalid(spec, "version_column", f"{column!r} is not {choices}")
    if is_kept and column is None:
        raise _invalid(spec, "version_column", f"publication is by VERSIONED; choose {choices}")
    if column is not None and not is_kept:
        raise _invalid(
            spec,
            "version_column",
            f"publication is by {spec.publish_mode}, which keeps no versions; leave it out, or "
            "publish by VERSIONED",
        )
    if is_kept and spec.partition_column in tuple(VersionColumn):
        raise _invalid(
            spec, "partition_column", f"{spec.partition_column!r} names versions; name the day else"
        )
    if column is not None and contract.column(column) is not None:
        raise _invalid(
            spec, "schema", f"{column.value!r} is the platform's column of versions; leave it out"
        )


def _check_merge(spec: TableSpec, contract: Contract) -> None:
    is_merged = spec.publish_mode is PublishMode.MERGE_BY_KEY
    if spec.merge is None:
        if is_merged:
            raise _invalid(spec, "merge", "publication is by MERGE_BY_KEY; name a KeyedMerge")
        return
    if not isinstance(spec.merge, KeyedMerge):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _invalid(spec, "merge", f"{spec.merge!r} is not of type KeyedMerge")
    if not is_merged:
        raise _invalid(
            spec,
            "merge",
            f"publication is by {spec.publish_mode}, which merges nothing; leave it out, or "
            "publish by MERGE_BY_KEY",
        )
    version = _deciding_column(spec, contract, "version_column", spec.merge.version_column)
    if version.type not in ORDERED_TYPES and not version.type.startswith("decimal"):
        raise _invalid(
            spec,
            "merge",
            f"version_column {version.name!r} is of type {version.type}, which has no reliable "
            "order; use an integer, a decimal, a date or a timestamp",
        )
    _check_operation(spec, contract, spec.merge)


def _check_operation(spec: TableSpec, contract: Contract, merge: KeyedMerge) -> None:
    if merge.operation_column is None:
        return
    operation = _deciding_column(spec, contract, "operation_column", merge.operation_column)
    if operation.name == merge.version_column:
        raise _invalid(spec, "merge", f"{operation.name!r} is the version_column already")
    if operation.type != "string":
        raise _invalid(
            spec,
            "merge",
            f"operation_column {operation.name!r} is of type {operation.type}; operations are "
            "words",
        )


def _deciding_column(spec: TableSpec, contract: Contract, field: str, name: str) -> Column:
    """A key is what the rows of one thing share, so what tells them apart is none of it."""
    column = contract.column(name)
    if column is None:
        raise _invalid(
            spec,
            "merge",
            f"{field} {name!r} is not in the schema ({', '.join(contract.column_names)})",
        )
    if name in spec.keys:
        raise _invalid(
            spec, "merge", f"{field} {name!r} is one of the keys, so no two rows would ever meet"
        )
    if column.is_nullable:
        raise _invalid(
            spec, "merge", f"{field} {name!r} may be null, which decides nothing; declare it not so"
        )
    return column


def _check_live_conflicts(spec: TableSpec) -> None:
    if not isinstance(spec.live_conflicts, LiveConflicts):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _invalid(
            spec, "live_conflicts", f"{spec.live_conflicts!r} is not of type LiveConflicts"
        )
    possible = LIVE_CONFLICTS.get(spec.publish_mode, ONLY_FREEZE)
    if spec.live_conflicts not in possible:
        raise _invalid(
            spec,
            "live_conflicts",
            f"{spec.live_conflicts} cannot be kept where publication is by {spec.publish_mode}; "
            f"use {' or '.join(sorted(possible))}",
        )
    _check_frozen_minutes(spec)


def _check_frozen_minutes(spec: TableSpec) -> None:
    if spec.frozen_minutes < 0:
        raise _invalid(
            spec, "frozen_minutes", f"{spec.frozen_minutes} is in the past; use 0 or more"
        )
    if spec.frozen_minutes and spec.live_conflicts is not LiveConflicts.FREEZE:
        raise _invalid(
            spec,
            "frozen_minutes",
            f"{spec.live_conflicts} freezes nobody out; leave it out, or use FREEZE",
        )


def _invalid(spec: TableSpec, field: str, problem: str) -> DeclarationInvalid:
    return DeclarationInvalid(subject=spec.full_name, field=field, problem=problem)
