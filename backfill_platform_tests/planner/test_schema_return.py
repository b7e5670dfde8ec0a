"""What becomes of columns whose run is undone: they stay, they return, or they forbid it."""

from dataclasses import replace
from datetime import date

from backfill_platform.domain.contracts import Column
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.schema_changes import (
    SchemaChange,
    SchemaChangeKind,
    compare_schemas,
)
from backfill_platform.planner.rollback_facts import FormerSchema, RollbackFacts
from backfill_platform.planner.schema_return import (
    returning_changes,
    schema_return_finding,
    schema_return_reasons,
)
from backfill_platform_tests.planner.worlds import FACTS, NOW, plan

K = SchemaChangeKind
ONE, TWO, OTHER = date(2025, 3, 1), date(2025, 3, 2), date(2025, 5, 1)
NOTE = Column(name="note", type="string", is_nullable=True)
AMOUNT = Column(name="amount", type="long", is_nullable=True)
WITH, WITHOUT = (AMOUNT, NOTE), (AMOUNT,)
HELD_BEFORE = {ONE: "old", TWO: "old", OTHER: "other"}

# The run removed the note and replaced two days; a third holds what it held.
REMOVED = FormerSchema(
    now=WITHOUT,
    columns_of={ONE: WITH, TWO: WITH},
    before=WITH,
    left=WITHOUT,
    held_now={ONE: "new", TWO: "new", OTHER: "other"},
    held_before=HELD_BEFORE,
    returning={ONE: "old", TWO: "old"},
)


def undoing(schema: FormerSchema | None, *changes: SchemaChange) -> RollbackFacts:
    manifest = plan()
    return RollbackFacts(
        now=NOW,
        undone=replace(manifest, target=replace(manifest.target, schema_changes=changes)),
        state=RunState.PUBLISHED,
        histories={},
        returned={},
        own_rollbacks=frozenset(),
        target=FACTS.target,
        left={},
        before={},
        in_flight=(),
        schema=schema,
    )


def removing(schema: FormerSchema = REMOVED) -> RollbackFacts:
    return undoing(schema, *compare_schemas(WITH, WITHOUT))


def reasons(facts: RollbackFacts, *days: date) -> str:
    return "\n".join(schema_return_reasons(facts, days or (ONE, TWO)))


def test_a_removed_column_returns_where_the_whole_table_is_what_it_was():
    assert reasons(removing()) == ""
    assert [change.kind for change in returning_changes(removing())] == [K.ADDED]


def test_an_added_column_stays():
    schema = FormerSchema(now=WITH, columns_of={ONE: WITHOUT, TWO: WITHOUT})
    facts = undoing(schema, *compare_schemas(WITHOUT, WITH))
    assert (reasons(facts), returning_changes(facts)) == ("", ())


def test_a_part_of_the_run_is_not_undone_alone():
    assert "2025-03-02 would not be what it was" in reasons(removing(), ONE)


def test_a_day_that_was_published_since_keeps_the_columns_of_since():
    since = replace(REMOVED, held_now={**REMOVED.held_now, OTHER: "newer"})
    assert "2025-05-01 would not be what it was" in reasons(removing(since))


def test_a_day_that_was_filled_since_keeps_the_columns_of_since():
    filled = {ONE: "old", TWO: "old"}
    assert "2025-05-01 would not be" in reasons(removing(replace(REMOVED, held_before=filled)))


def test_columns_that_changed_again_since_do_not_return():
    again = replace(REMOVED, now=(replace(AMOUNT, type="string"),))
    assert "the columns have changed again since" in reasons(removing(again))


def test_columns_that_nobody_can_read_any_more_do_not_return():
    assert "can no longer be read" in reasons(removing(replace(REMOVED, before=None)))


def test_rows_that_somebody_else_made_unfit_do_not_return():
    tight = replace(NOTE, is_nullable=False)
    schema = FormerSchema(now=(AMOUNT, tight), columns_of={ONE: WITHOUT, TWO: (AMOUNT, tight)})
    assert "what 2025-03-01 held before does not fit 'note'" in reasons(undoing(schema))


def test_rows_of_a_column_that_somebody_else_removed_return_without_it():
    assert reasons(undoing(FormerSchema(now=WITHOUT, columns_of={ONE: WITH, TWO: WITH}))) == ""


def test_a_target_that_is_gone_is_for_others_to_refuse():
    assert reasons(undoing(None, *compare_schemas(WITH, WITHOUT))) == ""


def test_a_rollback_that_leaves_the_columns_says_nothing_of_them():
    assert schema_return_finding(()) == ()
