"""The contract of corrections, which follows from that of the table they correct. Pure.

What a correction says is new keeps every rule that the original's rows have to keep.
"""

from collections.abc import Iterator

from backfill_platform.corrections.columns import CORRECTION_COLUMNS, Change
from backfill_platform.corrections.subject import Subject
from backfill_platform.domain.contracts import Column, ColumnCheck, Contract
from backfill_platform.domain.errors import DeclarationInvalid

NEW_VALUES = "from_json(new_values, 'map<string,string>')"

_OWN_CHECKS = (
    ColumnCheck(
        column="correction_id", check="str_matches", arguments={"pattern": "^[0-9a-f]{64}$"}
    ),
    ColumnCheck(
        column="correction_number",
        check="greater_than_or_equal_to",
        arguments={"min_value": 1},
    ),
    ColumnCheck(
        column="change", check="isin", arguments={"allowed_values": [one.value for one in Change]}
    ),
)


def derive_contract(subject: Subject, original: Contract) -> Contract:
    """Invariant: no correction says a value that the original's contract forbids
    (test_a_correction_must_keep_the_contract_of_the_original)."""
    _refuse_what_is_about_whole_days(subject, original)
    day = Column(name=subject.partition_column, type="date", is_nullable=False)
    return Contract(
        columns=(day, *CORRECTION_COLUMNS),
        checks=(*_OWN_CHECKS, *_checks_of_new_values(original)),
    )


def _refuse_what_is_about_whole_days(subject: Subject, original: Contract) -> None:
    """A correction holds what is new of one row."""
    of_days = [one.name for one in (*original.uniques, *original.by_pandera)]
    of_days += [one.name for one in original.checks if one.check == "unique_values_eq"]
    if of_days:
        raise DeclarationInvalid(
            subject=subject.table,
            field="schema",
            problem=(
                f"{', '.join(of_days)} cannot be asked of corrections, which hold single values; "
                "publish this table by restatement, or declare the check without it"
            ),
        )


def _checks_of_new_values(original: Contract) -> Iterator[ColumnCheck]:
    types = {column.name: column.type for column in original.columns}
    for check in original.checks:
        value = f"try_element_at({NEW_VALUES}, {_literal(check.column)})"
        yield ColumnCheck(
            column=f"new_values.{check.column}",
            check=check.check,
            arguments=check.arguments,
            value=f"cast({value} AS {types[check.column]})",
        )
    for column in original.columns:
        if not column.is_nullable:
            yield _says_no_null(column.name)


def _says_no_null(name: str) -> ColumnCheck:
    """A value that is not said is no null: it stays what it was."""
    said = f"map_contains_key({NEW_VALUES}, {_literal(name)})"
    value = f"try_element_at({NEW_VALUES}, {_literal(name)})"
    return ColumnCheck(
        column=f"new_values.{name}",
        check="not_equal_to",
        arguments={"value": "null"},
        value=f"CASE WHEN {said} AND {value} IS NULL THEN 'null' ELSE 'a value' END",
    )


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
