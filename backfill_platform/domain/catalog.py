"""All declarations of one deployment, checked as a whole.

`build_catalog` refuses a wrong declaration with one error that names the table and the field. It is
pure: what a pandera model says comes in through `read_contract`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeVar

from backfill_platform.domain.contracts import LINEAGE_COLUMNS, Contract, DerivedContract
from backfill_platform.domain.declared_privacy import (
    check_deletion_list,
    check_flow_of_classes,
    check_privacy,
)
from backfill_platform.domain.declared_publication import check_publication
from backfill_platform.domain.declared_quality import check_quality
from backfill_platform.domain.determinism import check_floats
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.limits import Limits
from backfill_platform.domain.modes import Classification, PublishScope
from backfill_platform.domain.partitions import Boundary
from backfill_platform.domain.privacy import DeletionList
from backfill_platform.domain.tables import FileSource, ReferenceData, TableSpec
from backfill_platform.domain.versions import parse_version

T = TypeVar("T")

IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,62}")
SOURCE_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}\.[a-z][a-z0-9_]{0,62}")

LONGEST_UNIT_DAYS = {Boundary.DAY: 1, Boundary.WEEK: 7, Boundary.MONTH: 31}

ReadContract = Callable[[type[Any] | DerivedContract], Contract]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """What a deployment writes down; `build_catalog` checks it."""

    sources: tuple[FileSource, ...]
    references: tuple[ReferenceData, ...]
    tables: tuple[TableSpec, ...]
    deletions: tuple[DeletionList, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Checked declarations; tables stand in an order in which inputs come first."""

    sources: Mapping[str, FileSource]
    references: Mapping[str, ReferenceData]
    tables: Mapping[str, TableSpec]
    contracts: Mapping[str, Contract]  # by table or source name
    deletions: Mapping[str, DeletionList] = field(default_factory=dict[str, DeletionList])


def build_catalog(declarations: Declarations, read_contract: ReadContract) -> Catalog:
    sources = _by_name(declarations.sources, lambda source: source.name, "source")
    references = _by_name(declarations.references, lambda reference: reference.name, "reference")
    tables = _by_name(declarations.tables, lambda spec: spec.full_name, "table")
    deletions = _by_name(declarations.deletions, lambda listed: listed.name, "deletion list")
    for source in sources.values():
        _check_source(source)
    for listed in deletions.values():
        check_deletion_list(listed)
    for reference in references.values():
        _check_unique("versions", reference.name, (known.version for known in reference.versions))
    contracts = {name: read_contract(source.schema) for name, source in sources.items()}
    contracts |= {name: _read_table_contract(spec, read_contract) for name, spec in tables.items()}
    for spec in tables.values():
        _check_names(spec)
        _check_boundary(spec)
        _check_rules(spec)
        _check_columns(spec, contracts[spec.full_name])
        check_publication(spec, contracts[spec.full_name])
        check_privacy(spec, contracts[spec.full_name], deletions)
        _check_inputs(spec, known=sources.keys() | tables.keys())
        _check_references(spec, references)
        check_quality(spec, contracts)
        check_floats(spec, contracts[spec.full_name])
        _check_transforms(spec)
    ordered = {name: tables[name] for name in _in_order(tables)}
    check_flow_of_classes(ordered.values(), contracts)
    return Catalog(
        sources=sources,
        references=references,
        tables=ordered,
        contracts=contracts,
        deletions=deletions,
    )


def _by_name(items: Iterable[T], name_of: Callable[[T], str], what: str) -> dict[str, T]:
    named: dict[str, T] = {}
    for item in items:
        if name_of(item) in named:
            raise DeclarationInvalid(
                subject=name_of(item), field="name", problem=f"this {what} is declared twice"
            )
        named[name_of(item)] = item
    return named


def _read_table_contract(spec: TableSpec, read_contract: ReadContract) -> Contract:
    try:
        return read_contract(spec.schema)
    except DeclarationInvalid as invalid:
        raise DeclarationInvalid(
            subject=spec.full_name, field="schema", problem=str(invalid)
        ) from invalid


def _check_source(source: FileSource) -> None:
    if not SOURCE_NAME.fullmatch(source.name):
        raise _invalid(source.name, "name", "use `area.name` in lower case letters, digits and _")
    if source.path.startswith("/") or ".." in source.path.split("/"):
        raise _invalid(source.name, "path", f"{source.path!r} must lie below the landing root")
    _check_word(source, source.name, "classification", Classification)
    _check_retention(source.name, source.retention_days)


def _check_names(spec: TableSpec) -> None:
    for named in ("layer", "name", "partition_column"):
        value = getattr(spec, named)
        if not IDENTIFIER.fullmatch(value):
            raise _invalid(
                spec.full_name, named, f"{value!r} must be lower case letters, digits and _"
            )


def _check_boundary(spec: TableSpec) -> None:
    """A chunk holds whole weeks or months, and the table begins with one."""
    _check_word(spec, spec.full_name, "boundary", Boundary)
    least = LONGEST_UNIT_DAYS[spec.boundary]
    if spec.chunk_days < least:
        raise _invalid(
            spec.full_name,
            "chunk_days",
            f"{spec.chunk_days} holds no whole {spec.boundary}; use {least} or more",
        )
    unit_start = spec.boundary.start_of(spec.start)
    if unit_start != spec.start:
        raise _invalid(
            spec.full_name,
            "start",
            f"{spec.start} cuts a {spec.boundary}; use {unit_start} or "
            f"{spec.boundary.next_start(spec.start)}",
        )


def _check_rules(spec: TableSpec) -> None:
    _check_word(spec, spec.full_name, "classification", Classification)
    _check_word(spec, spec.full_name, "limits", Limits)
    _check_word(spec, spec.full_name, "publish_scope", PublishScope)
    _check_retention(spec.full_name, spec.retention_days)
    for problem in spec.limits.problems:
        raise _invalid(spec.full_name, "limits", problem)


def _check_word(declared: TableSpec | FileSource, subject: str, field: str, kind: type) -> None:
    """Declarations are written by people, whose editor need not check types."""
    value = getattr(declared, field)
    if not isinstance(value, kind):
        raise _invalid(subject, field, f"{value!r} is not of type {kind.__name__}")


def _check_retention(subject: str, retention_days: int | None) -> None:
    if retention_days is not None and retention_days < 1:
        raise _invalid(
            subject, "retention_days", f"{retention_days} keeps not a single day; leave it out"
        )


def _check_columns(spec: TableSpec, contract: Contract) -> None:
    column = contract.column(spec.partition_column)
    if column is None:
        raise _invalid(
            spec.full_name,
            "partition_column",
            f"{spec.partition_column!r} is not in the schema ({', '.join(contract.column_names)})",
        )
    if column.type != "date":
        raise _invalid(
            spec.full_name,
            "partition_column",
            f"{column.name!r} is a {column.type}; daily partitions need a date",
        )
    for key in spec.keys:
        if contract.column(key) is None:
            raise _invalid(spec.full_name, "keys", f"{key!r} is not in the schema")
    if spec.partition_column not in spec.keys:
        raise _invalid(spec.full_name, "keys", f"must contain {spec.partition_column!r}")
    for lineage in LINEAGE_COLUMNS:
        if contract.column(lineage.name) is not None:
            raise _invalid(
                spec.full_name, "schema", f"{lineage.name!r} is a lineage column of the platform"
            )


def _check_inputs(spec: TableSpec, known: Iterable[str]) -> None:
    if not spec.inputs:
        raise _invalid(spec.full_name, "inputs", "a table needs at least one input")
    _check_unique("inputs", spec.full_name, (used.name for used in spec.inputs))
    for used in spec.inputs:
        if used.name not in known:
            raise _invalid(
                spec.full_name,
                "inputs",
                f"unknown input {used.name!r}; declared are {', '.join(sorted(known))}",
            )
        if used.warm_up_days < 0 or used.late_days < 0:
            raise _invalid(spec.full_name, "inputs", f"{used.name!r} has a negative window")


def _check_references(spec: TableSpec, references: Mapping[str, ReferenceData]) -> None:
    for use in spec.references:
        reference = references.get(use.name)
        if reference is None:
            raise _invalid(spec.full_name, "references", f"unknown reference {use.name!r}")
        if use.version not in (known.version for known in reference.versions):
            raise _invalid(
                spec.full_name, "references", f"{use.name!r} has no version {use.version!r}"
            )


def _check_transforms(spec: TableSpec) -> None:
    if not spec.transforms:
        raise _invalid(spec.full_name, "transforms", "a table needs at least one version")
    _check_unique("transforms", spec.full_name, (known.version for known in spec.transforms))
    for known in spec.transforms:
        if parse_version(known.version) is None:
            raise _invalid(
                spec.full_name,
                "transforms",
                f"{known.version!r} is not a semantic version such as 3.1.0",
            )


def _check_unique(field: str, subject: str, values: Iterable[str]) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise _invalid(subject, field, f"{value!r} is declared twice")
        seen.add(value)


def _in_order(tables: Mapping[str, TableSpec]) -> tuple[str, ...]:
    graph = {
        name: [used.name for used in spec.inputs if used.name in tables]
        for name, spec in tables.items()
    }
    try:
        return tuple(TopologicalSorter(graph).static_order())
    except CycleError as cycle:
        path = " -> ".join(reversed(cycle.args[1]))
        raise _invalid(cycle.args[1][0], "inputs", f"tables feed each other: {path}") from cycle


def _invalid(subject: str, field: str, problem: str) -> DeclarationInvalid:
    return DeclarationInvalid(subject=subject, field=field, problem=problem)
