"""What makes a transform give other rows when it is run again, and the rule for floating numbers.

The names of Spark's functions stand here once, for those who read a transform's source and for
those who read the plan that Spark made of it. What was seen is a value; who refuses is the engine.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from backfill_platform.domain.contracts import Contract
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.tables import TableSpec


class Cause(StrEnum):
    """What the outcome depends on; and, as its value, in words."""

    CLOCK = "reads the clock"
    CHANCE = "draws random numbers"
    IDENTITY = "makes an id that depends on how the work is cut"
    PLACE = "tells where rows lie"
    SESSION = "reads the session that it happens to run in"
    ENVIRONMENT = "reads this machine or its environment"
    NETWORK = "asks the network"
    ORDER = "depends on an order of rows that nothing fixes"
    FLOATS = "depends on the order in which floating numbers are added up"


INSTEAD: Mapping[Cause, str] = {
    Cause.CLOCK: "take context.run_started_at, or a day of context.publish_days",
    Cause.CHANCE: "derive it from the key, such as pmod(xxhash64(key), 100)",
    Cause.IDENTITY: "derive the id from the key, such as sha2(concat_ws('|', key), 256)",
    Cause.PLACE: "take what tells rows apart from the rows themselves",
    Cause.SESSION: "give it to the transform as `config` of the table or as reference data",
    Cause.ENVIRONMENT: "give it to the transform as `config` of the table or as reference data",
    Cause.NETWORK: "land what it answers, and declare that as an input",
    Cause.ORDER: (
        "order by the key as well, sort what is collected (sort_array), or say in the transform "
        "version's `ties` why it makes no difference"
    ),
    Cause.FLOATS: (
        "cast to decimal before adding up, or give the column a floating type and "
        "`Quality.decimal_places`"
    ),
}

# Spark's functions by their names in SQL, in Python and in plans.
MOVING_FUNCTIONS: Mapping[str, Cause] = {
    name: cause
    for cause, names in {
        Cause.CLOCK: ("current_timestamp now current_date curdate current_time localtimestamp"),
        Cause.CHANCE: "rand randn random uniform randstr shuffle",
        Cause.IDENTITY: "uuid monotonically_increasing_id spark_partition_id",
        Cause.PLACE: "input_file_name input_file_block_start input_file_block_length",
        Cause.SESSION: (
            "current_timezone current_user session_user user current_catalog current_database "
            "current_schema version reflect try_reflect java_method"
        ),
    }.items()
    for name in names.split()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One expression that may give something else next time."""

    cause: Cause
    expression: str
    where: str = ""  # a file and its line, the column that it feeds, …
    why: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        why = f" ({self.why})" if self.why else ""
        return f"{place}`{self.expression}` {self.cause}{why}; {INSTEAD[self.cause]}"


MOST_PLACES = {"float": 6, "double": 15}  # as many digits as every value of the type keeps
FLOATING = frozenset(MOST_PLACES)


def check_floats(spec: TableSpec, contract: Contract) -> None:
    """Invariant: no floating number is published with digits that depend on the order of rows
    (test_a_floating_column_without_decimal_places_is_refused)."""
    for problem in _float_problems(spec, contract):
        raise DeclarationInvalid(
            subject=spec.full_name, field="quality.decimal_places", problem=problem
        )


def round_floats(spec: TableSpec) -> dict[str, str]:
    """SQL by column: half away from zero, on the shortest text that names the number. What is no
    number or infinite stays, and a negative zero becomes zero."""
    return {name: f"round(`{name}`, {most})" for name, most in spec.quality.decimal_places.items()}


def _float_problems(spec: TableSpec, contract: Contract) -> Iterator[str]:
    declared = spec.quality.decimal_places
    for column in contract.columns:
        if column.type in FLOATING and column.name not in declared:
            yield (
                f"column {column.name!r} is a {column.type}, whose last digits depend on the order "
                "in which rows are added up, and so would its checksum. Two ways lead on: declare "
                f"quality=Quality(decimal_places={{{column.name!r}: 2}}), and the platform rounds "
                "the column to so many places, or declare the column as a decimal"
            )
    for name, most in declared.items():
        column = contract.column(name)
        if column is None or column.type not in FLOATING:
            yield f"{name!r} is no float or double of the schema; leave it out"
        elif not 0 <= most <= MOST_PLACES[column.type]:
            yield f"{name!r}: {most} places; use 0 to {MOST_PLACES[column.type]}"
