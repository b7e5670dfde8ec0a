"""What is corrected: the original table as its corrections need to know it, taken from its spec.

Refuses a table whose corrections could not be told or would not be allowed. Pure, and its `repr` is
the same in every process: it belongs to the code of the transform that it is bound to.
"""

from dataclasses import dataclass
from typing import Any

from backfill_platform.corrections.columns import OWN_COLUMNS
from backfill_platform.domain.determinism import round_floats
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.modes import PublishMode
from backfill_platform.domain.privacy import NOTHING_PRIVATE
from backfill_platform.domain.tables import TableSpec

# Whose rows stay what one run published. The others keep what was, each in its own way.
CORRECTED_MODES = (
    PublishMode.REPLACE_PARTITIONS,
    PublishMode.APPEND_ONLY,
    PublishMode.SHADOW_SWAP,
)

# Delta's names of the types whose values have one text, from which they can be read again.
TYPES_WITH_A_TEXT = frozenset(
    {"string", "boolean", "byte", "short", "integer", "long", "float", "double"}
    | {"date", "timestamp", "timestamp_ntz"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    table: str
    partition_column: str
    keys: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]  # business columns by name, with Delta's name of the type
    rounded: tuple[tuple[str, str], ...] = ()  # floating columns, with the SQL that rounds them

    @property
    def event_type(self) -> str:
        """`silver.case_sla_daily` is corrected by events of type `CaseSlaDailyCorrected`."""
        words = self.table.partition(".")[2].split("_")
        return "".join(word.capitalize() for word in words) + "Corrected"

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(sorted(name for name, _ in self.columns))


def subject_of(spec: TableSpec) -> Subject:
    subject = Subject(
        table=spec.full_name,
        partition_column=spec.partition_column,
        keys=tuple(sorted(spec.keys)),
        columns=_declared_columns(spec),
        rounded=tuple(sorted(round_floats(spec).items())),
    )
    _refuse_what_cannot_be_corrected(spec, subject)
    return subject


def _declared_columns(spec: TableSpec) -> tuple[tuple[str, str], ...]:
    """Read from the pandera model itself: whoever declares tables knows no other room."""
    schema: Any = spec.schema
    if not hasattr(schema, "to_schema"):
        raise _invalid(spec, "schema", "corrections are made of a pandera.pyspark DataFrameModel")
    columns = schema.to_schema().columns
    return tuple((name, str(one.dtype.type.jsonValue())) for name, one in columns.items())


def _refuse_what_cannot_be_corrected(spec: TableSpec, subject: Subject) -> None:
    if spec.publish_mode not in CORRECTED_MODES:
        raise _invalid(
            spec,
            "publish_mode",
            f"{spec.publish_mode} keeps what was in its own way; corrections_of takes tables "
            f"published by {', '.join(CORRECTED_MODES)}",
        )
    if spec.privacy != NOTHING_PRIVATE:
        raise _invalid(
            spec,
            "privacy",
            "corrections repeat old and new values, which would be neither masked nor forgotten; "
            "declare no corrections_of this table",
        )
    if spec.partition_column in OWN_COLUMNS:
        raise _invalid(
            spec, "partition_column", f"{spec.partition_column!r} is a column of every correction"
        )
    for name, kind in subject.columns:
        if kind not in TYPES_WITH_A_TEXT and not kind.startswith("decimal("):
            raise _invalid(
                spec,
                "schema",
                f"{name!r} is {kind}, whose values have no one text that a correction could name",
            )


def _invalid(spec: TableSpec, field: str, problem: str) -> DeclarationInvalid:
    return DeclarationInvalid(subject=spec.full_name, field=field, problem=problem)
