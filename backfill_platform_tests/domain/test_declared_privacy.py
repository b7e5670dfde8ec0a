"""What a table declares about privacy can be kept, or is refused in one error that says why."""

from dataclasses import replace
from typing import Any

import pytest

from backfill_platform.domain.catalog import Catalog, Declarations, build_catalog
from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.modes import Classification
from backfill_platform.domain.privacy import DeletionList, ListedSubjects, Mask, Privacy
from backfill_platform.domain.tables import Input, TableSpec
from backfill_platform_tests.declarations import SOURCE, make_table

RESTRICTED, CONFIDENTIAL = Classification.RESTRICTED, Classification.CONFIDENTIAL
INTERNAL = Classification.INTERNAL

FORGOTTEN = DeletionList(
    name="landing.forgotten", path="forgotten", owner="privacy", description="Who asked for it."
)
SCHEMA = Contract(
    columns=(
        Column(name="day", type="date", is_nullable=False),
        Column(name="case_id", type="string", is_nullable=False),
        Column(name="phone", type="string", is_nullable=True),
        Column(name="email", type="string", is_nullable=False),
        Column(name="income", type="long", is_nullable=True),
    ),
    checks=(),
)


def build(*tables: TableSpec, deletions: tuple[DeletionList, ...] = (FORGOTTEN,)) -> Catalog:
    return build_catalog(
        Declarations(sources=(SOURCE,), references=(), tables=tables, deletions=deletions),
        read_contract=lambda _model: SCHEMA,
    )


def table(name: str = "cases", reads: str = "landing.events", **privacy: Any) -> TableSpec:
    above = privacy.pop("classification", INTERNAL)
    return make_table(
        name=name,
        inputs=(Input(name=reads),),
        classification=above,
        privacy=Privacy(**privacy),
    )


def refusal(*tables: TableSpec, **given: Any) -> str:
    with pytest.raises(DeclarationInvalid) as refused:
        build(*tables, **given)
    return str(refused.value)


def masked(column: str, mask: Mask) -> TableSpec:
    return table(column_classes={column: RESTRICTED}, masks={column: mask})


def test_a_table_may_leave_out_the_subjects_of_a_declared_list():
    assert build(table(subject_column="case_id", deletions=FORGOTTEN.name)).deletions == {
        FORGOTTEN.name: FORGOTTEN
    }


def test_an_unknown_list_names_those_that_are_declared():
    said = refusal(table(subject_column="case_id", deletions="landing.gone"))
    assert "unknown deletion list 'landing.gone'; declared: landing.forgotten" in said


def test_a_list_without_a_column_to_hold_it_against_is_refused():
    assert "needs a subject_column" in refusal(table(deletions=FORGOTTEN.name))


@pytest.mark.parametrize("column", ["phone", "income"])
def test_a_subject_that_may_be_null_or_is_no_text_is_refused(column):
    assert "must be a string that is never null" in refusal(table(subject_column=column))


def test_a_subject_outside_the_schema_is_refused():
    assert "subject_column 'name' is not in the schema" in refusal(table(subject_column="name"))


def test_a_list_outside_the_landing_root_is_refused():
    outside = replace(FORGOTTEN, path="../forgotten")
    assert "must lie below the landing root" in refusal(table(), deletions=(outside,))


def test_a_list_that_stands_twice_is_refused():
    said = refusal(table(), deletions=(FORGOTTEN, FORGOTTEN))
    assert "landing.forgotten: name: this deletion list is declared twice" in said


def test_a_column_above_its_table_needs_a_mask():
    said = refusal(table(column_classes={"phone": RESTRICTED}))
    assert "silver.cases: privacy: column 'phone' is RESTRICTED and the table only INTERNAL" in said
    assert "give it a mask, leave it out, or declare the table as RESTRICTED" in said


def test_a_mask_holds_only_where_the_column_is_above_its_table():
    privacy = Privacy(
        column_classes={"phone": RESTRICTED, "email": INTERNAL},
        masks={"phone": Mask.SHA256, "email": Mask.SHA256},
    )
    assert privacy.masks_in(INTERNAL) == {"phone": Mask.SHA256}
    assert privacy.masks_in(RESTRICTED) == {}


def test_a_mask_without_a_class_is_refused():
    assert "'phone' has a mask and no class" in refusal(table(masks={"phone": Mask.NULL}))


@pytest.mark.parametrize("field", ["column_classes", "masks"])
def test_a_word_that_is_none_of_the_platform_is_refused(field):
    secret: dict[str, Any] = {field: {"phone": "SECRET"}}
    privacy = Privacy(**secret)
    assert "'phone': 'SECRET' is not of type" in refusal(make_table(privacy=privacy))


def test_a_class_of_a_column_that_is_not_there_is_refused():
    assert "'fax' is not in the schema" in refusal(table(column_classes={"fax": RESTRICTED}))


@pytest.mark.parametrize(
    ("column", "mask", "problem"),
    [
        ("email", Mask.NULL, "may not be null"),
        ("income", Mask.SHA256, "only text can be masked so"),
        ("income", Mask.LAST_FOUR, "only text can be masked so"),
        ("case_id", Mask.LAST_FOUR, "told apart by their key; use SHA256"),
    ],
)
def test_a_mask_that_does_not_fit_its_column_is_refused(column, mask, problem):
    assert problem in refusal(masked(column, mask))


@pytest.mark.parametrize(
    ("column", "mask"),
    [
        ("phone", Mask.NULL),
        ("income", Mask.NULL),
        ("phone", Mask.LAST_FOUR),
        ("email", Mask.SHA256),
        ("case_id", Mask.SHA256),
    ],
)
def test_a_mask_that_fits_is_taken(column, mask):
    assert build(masked(column, mask)).tables["silver.cases"].privacy.masks == {column: mask}


def test_a_subject_that_could_not_be_found_again_is_refused():
    spec = replace(masked("email", Mask.LAST_FOUR), keys=("day", "case_id"))
    privacy = replace(spec.privacy, subject_column="email")
    assert "may only be masked by SHA256" in refusal(replace(spec, privacy=privacy))


def test_a_class_flows_from_table_to_table_until_a_mask_ends_it():
    first = table("first", classification=CONFIDENTIAL, column_classes={"phone": CONFIDENTIAL})
    second = table("second", "silver.first", classification=CONFIDENTIAL)
    third = table("third", "silver.second")
    said = refusal(first, second, third)
    assert "silver.third: privacy: column 'phone' is CONFIDENTIAL in silver.second" in said
    ended = table(
        "third",
        "silver.second",
        column_classes={"phone": CONFIDENTIAL},
        masks={"phone": Mask.NULL},
    )
    assert build(first, second, ended, table("fourth", "silver.third"))


def test_a_class_is_not_lowered_by_declaring_it_lower():
    first = table("first", classification=RESTRICTED, column_classes={"phone": RESTRICTED})
    second = table("second", "silver.first", column_classes={"phone": INTERNAL})
    assert "is RESTRICTED in silver.first and only INTERNAL here" in refusal(first, second)


def test_a_value_is_not_hashed_twice_on_its_way():
    first = table("first", column_classes={"email": RESTRICTED}, masks={"email": Mask.SHA256})
    second = table("second", "silver.first")
    third = table(
        "third",
        "silver.second",
        column_classes={"email": RESTRICTED},
        masks={"email": Mask.SHA256},
    )
    assert "column 'email' comes masked by SHA256" in refusal(first, second, third)


def test_a_list_does_not_show_whom_it_names():
    listed = ListedSubjects(list_name=FORGOTTEN.name, subjects=frozenset({"C-17"}))
    assert "C-17" not in repr(listed) + repr(listed.pinned)


def test_the_digest_of_a_list_depends_on_whom_it_names_and_on_nothing_else():
    one = ListedSubjects(list_name="a", subjects=frozenset({"C-1", "C-2"}))
    again = ListedSubjects(list_name="a", subjects=frozenset(["C-2", "C-1", "C-1"]))
    other = ListedSubjects(list_name="a", subjects=frozenset({"C-1", "C-3"}))
    elsewhere = ListedSubjects(list_name="b", subjects=one.subjects)
    assert one.pinned == again.pinned
    assert len({listed.pinned.digest for listed in (one, other, elsewhere)}) == 3
