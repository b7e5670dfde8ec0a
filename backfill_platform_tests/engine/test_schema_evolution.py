"""A run changes its target's columns with its rows, or not at all. Runs are staged by hand."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, Field
from deltalake.schema import PrimitiveType

from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.errors import ManifestDrifted, PlanRefused, TargetMoved
from backfill_platform.domain.findings import Check
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import PublishScope
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish import publishing
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.recover.recovering import recover_run
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform_tests.delta_reader import read_snapshot, read_table
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand
from backfill_platform_tests.readings import BRONZE, SILVER, week

DAYS = week(days=3)
ONE = week(days=1)
MIDDLE = week(ONE.end_exclusive, days=1)
REST = DayRange(ONE.end_exclusive, DAYS.end_exclusive)
NOTE = Column(name="note", type="string", is_nullable=True)
AMOUNT = Column(name="amount", type="long", is_nullable=False)
SHORTER = replace(AMOUNT, type="integer")

Run = Callable[..., Manifest]
Seen = list[tuple[Any, ...]]


def declaring(platform: Platform, *columns: Column, without: str = "") -> Platform:
    """What a deployment is that declares these columns, instead of others or beside them."""
    catalog = platform.catalog
    declared = {column.name: column for column in catalog.contracts[BRONZE].columns}
    changed = declared | {column.name: column for column in columns}
    kept = tuple(column for name, column in changed.items() if name != without)
    contracts = {**catalog.contracts, BRONZE: Contract(columns=kept, checks=())}
    return replace(platform, catalog=replace(catalog, contracts=contracts))


@pytest.fixture
def plan(intent) -> Run:
    def make(platform: Platform, origin: str, days: DayRange = DAYS, *consents: str, **changes):
        accepted = frozenset(consents)
        return plan_run(
            platform, intent(BRONZE, days, origin, accepted_schema_changes=accepted, **changes)
        )

    return make


@pytest.fixture
def run(plan) -> Run:
    """Planned, staged and published, a row for each name on each day."""

    def make(platform: Platform, origin: str, days: DayRange = DAYS, *consents: str, **changes):
        manifest = plan(platform, origin, days, *consents, **changes)
        run_by_hand(platform, manifest, dict.fromkeys(days, (origin,)))
        return manifest

    return make


@pytest.fixture
def noted(platform: Platform, run: Run) -> Platform:
    """Three days without a note, of which the first was then published with one."""
    run(platform, "a")
    after = declaring(platform, NOTE)
    run(after, "b", ONE)
    return after


def target(platform: Platform) -> Path:
    return platform.warehouse.table_path(BRONZE)


def version(platform: Platform) -> int:
    return DeltaTable(target(platform)).version()


def seen(platform: Platform, *columns: str) -> Seen:
    """By delta-rs and by the third reader, which have to agree."""
    wanted = ["day", "meter", *columns]
    found = DeltaTable(target(platform)).to_pyarrow_table(columns=wanted).to_pylist()
    rows = sorted((tuple(row[name] for name in wanted) for row in found), key=repr)
    others = [tuple(row[name] for name in wanted) for row in read_table(target(platform))]
    assert sorted(others, key=repr) == rows, "two readers disagree about one table"
    return rows


def columns(platform: Platform) -> dict[str, tuple[str, bool]]:
    schema = read_snapshot(target(platform)).schema
    return {field["name"]: (field["type"], field["nullable"]) for field in schema}


def undo(platform: Platform, run_id: RunId, days: PartitionSet | None = None) -> None:
    request = RollbackRequest(run_id=run_id, days=days, reason="tests", requested_by="tests")
    roll_back(platform, plan_rollback(platform, request).run_id)


def day(number: int) -> date:
    return tuple(DAYS)[number]


def test_a_new_column_becomes_visible_with_its_rows_and_old_rows_show_null(noted: Platform):
    assert seen(noted, "note") == [
        (day(0), "b", "b"),
        (day(1), "a", None),
        (day(2), "a", None),
    ]


def test_the_target_keeps_its_columns_until_the_commit(platform, plan, run):
    run(platform, "a")
    before = columns(platform)
    after = declaring(platform, NOTE)
    stage_by_hand(after, plan(after, "b", ONE), {day(0): ["b"]})
    assert (columns(platform), version(platform)) == (before, 1)


def test_the_columns_change_in_the_same_commit_as_the_rows(platform, run):
    run(platform, "a")
    run(declaring(platform, NOTE), "b", ONE)
    assert version(platform) == 2
    before = DeltaTable(target(platform), version=1)
    assert "note" not in before.to_pyarrow_table().column_names


def test_later_chunks_find_the_columns_changed_as_planned(platform, plan, run):
    run(platform, "a")
    after = declaring(platform, NOTE)
    manifest = plan(after, "b")
    stage_by_hand(after, manifest, dict.fromkeys(DAYS, ("b",)), chunks=(ONE, REST))
    publish_chunk(after, manifest.run_id, ONE)
    publish_chunk(after, manifest.run_id, REST)
    assert seen(after, "note") == [(one, "b", "b") for one in DAYS]


def test_a_second_run_has_nothing_to_change_any_more(noted: Platform, plan: Run):
    assert plan(noted, "c", REST).target.schema_changes == ()


def test_a_removed_column_is_gone_for_readers_and_stays_in_old_files(noted, platform, run):
    run(platform, "c", REST, "note")
    assert "note" not in columns(platform)
    assert seen(platform) == [(day(0), "b"), (day(1), "c"), (day(2), "c")]


def test_a_removal_without_consent_leaves_no_plan_behind(noted, platform, plan):
    with pytest.raises(PlanRefused, match="`--accept-schema-change note`"):
        plan(platform, "c", REST)
    assert platform.ledger.run_by_origin("c") is None


def test_a_former_column_of_another_type_does_not_come_back(noted, platform, plan, run):
    run(platform, "c", REST, "note")
    other = declaring(platform, replace(NOTE, type="long"))
    with pytest.raises(PlanRefused, match="hold a former column 'note' as string"):
        plan(other, "d", REST)


def test_a_former_column_may_come_back_where_its_files_are_replaced(noted, platform, plan, run):
    run(platform, "c", REST, "note")
    other = declaring(platform, replace(NOTE, type="long"))
    assert [one.column for one in plan(other, "d", ONE).target.schema_changes] == ["note"]


def test_a_narrower_type_needs_every_partition_that_holds_files(platform, plan, run):
    run(platform, "a")
    narrow = declaring(platform, SHORTER)
    with pytest.raises(PlanRefused, match="holds 'amount' as long and is not replaced"):
        plan(narrow, "b", REST, "amount", publish_scope=PublishScope.WHOLE_RUN)


def test_a_narrower_type_is_published_for_the_whole_table_at_once(platform, run):
    run(platform, "a")
    narrow = declaring(platform, SHORTER)
    run(narrow, "b", DAYS, "amount", publish_scope=PublishScope.WHOLE_RUN)
    assert columns(narrow)["amount"] == ("integer", False)
    assert seen(narrow, "amount") == [(day(0), "b", 0), (day(1), "b", 1), (day(2), "b", 2)]


def test_a_wider_type_is_read_from_old_and_new_files(platform, run):
    narrow = declaring(platform, SHORTER)
    run(narrow, "a")
    run(platform, "b", ONE)
    assert columns(platform)["amount"] == ("long", False)
    assert seen(platform, "amount") == [(day(0), "b", 0), (day(1), "a", 1), (day(2), "a", 2)]


def test_a_column_is_tightened_when_the_log_counts_no_null_elsewhere(platform, run):
    loose = declaring(platform, replace(AMOUNT, is_nullable=True))
    run(loose, "a")
    run(platform, "b", ONE, "amount")
    assert columns(platform)["amount"] == ("long", False)


def test_a_column_with_nulls_in_other_days_is_not_tightened(noted: Platform, plan: Run):
    tight = declaring(noted, replace(NOTE, is_nullable=False))
    with pytest.raises(PlanRefused, match=f"{REST} may hold nulls in 'note'"):
        plan(tight, "c", ONE, "note")


def test_equal_rows_do_not_keep_a_run_from_changing_the_columns(platform, run):
    run(platform, "a")
    loose = declaring(platform, replace(AMOUNT, is_nullable=True))
    manifest = run(loose, "a again", DAYS, "amount")
    assert columns(loose)["amount"] == ("long", True)
    assert loose.ledger.accepted(BRONZE, DAYS)[day(0)].run_id == manifest.run_id


def test_publishing_a_run_twice_that_changes_the_columns_equals_publishing_it_once(platform, run):
    run(platform, "a")
    after = declaring(platform, NOTE)
    manifest = run(after, "b")
    before = version(after)
    again = publish_chunk(after, manifest.run_id, DAYS)
    assert (again.changed, version(after)) == ((), before)


def test_a_run_does_not_begin_on_columns_that_moved_since_it_was_planned(platform, plan, run):
    run(platform, "a")
    manifest = plan(platform, "b", REST)
    run(declaring(platform, NOTE), "c", ONE)
    with pytest.raises(ManifestDrifted, match=r"column 'note' of bronze\.readings is now string"):
        start_run(platform, manifest.run_id)


def test_columns_that_somebody_changed_since_are_not_changed_back(platform, plan, run):
    run(platform, "a")
    manifest = plan(platform, "b", REST)
    stage_by_hand(platform, manifest, dict.fromkeys(REST, ("b",)))
    run(declaring(platform, NOTE), "c", ONE)
    before = version(platform)
    with pytest.raises(TargetMoved, match="change columns in a way that nobody has reviewed"):
        publish_chunk(platform, manifest.run_id, REST)
    assert (version(platform), "note" in columns(platform)) == (before, True)


@pytest.fixture
def half_done(platform, plan, run, monkeypatch) -> tuple[Platform, Manifest]:
    """A run that adds a column has landed, and its process died before it recorded that."""
    run(platform, "a")
    after = declaring(platform, NOTE)
    manifest = plan(after, "b")
    stage_by_hand(after, manifest, dict.fromkeys(DAYS, ("b",)))

    def die(*_: Any) -> None:
        raise ConnectionError("the ledger is gone")

    with monkeypatch.context() as patched, suppress(ConnectionError):
        patched.setattr(publishing, "record_landed", die)
        publish_chunk(after, manifest.run_id, DAYS)
    return after, manifest


def settled(platform: Platform, manifest: Manifest) -> tuple[RunState, int, Seen]:
    state = platform.ledger.run(manifest.run_id).state
    return state, version(platform), seen(platform, "note")


DONE = (RunState.PUBLISHED, 2, [(one, "b", "b") for one in DAYS])


def test_recovering_a_run_that_changed_the_columns_changes_nothing_more(half_done):
    recover_run(half_done[0], half_done[1].run_id)
    assert settled(*half_done) == DONE


def test_publishing_a_run_again_that_changed_the_columns_changes_nothing_more(half_done):
    publish_chunk(half_done[0], half_done[1].run_id, DAYS)
    assert settled(*half_done) == DONE


def test_an_added_column_stays_when_its_run_is_rolled_back(platform, run):
    run(platform, "a")
    after = declaring(platform, NOTE)
    undo(after, run(after, "b", ONE).run_id)
    assert seen(after, "note") == [(one, "a", None) for one in DAYS]


def test_a_removed_column_returns_with_the_rows_that_held_it(platform, run):
    noting = declaring(platform, NOTE)
    run(noting, "a")
    undo(platform, run(platform, "b", ONE, "note").run_id)
    assert seen(platform, "note") == [(one, "a", "a") for one in DAYS]


def test_a_rollback_says_which_columns_return(platform, run):
    run(declaring(platform, NOTE), "a")
    removing = run(platform, "b", ONE, "note")
    request = RollbackRequest(
        run_id=removing.run_id, days=None, reason="tests", requested_by="tests"
    )
    planned = plan_rollback(platform, request)
    assert [one.column for one in planned.target.schema_changes] == ["note"]
    found = next(one for one in planned.findings if one.check is Check.SCHEMA_KEPT)
    assert found.message.startswith("'note' will be again what they were")


def test_a_run_that_narrowed_a_column_is_rolled_back_as_a_whole_or_not_at_all(platform, run):
    run(platform, "a")
    narrow = declaring(platform, SHORTER)
    manifest = run(narrow, "b", DAYS, "amount", publish_scope=PublishScope.WHOLE_RUN)
    with pytest.raises(PlanRefused, match="it can only be rolled back as a whole"):
        undo(narrow, manifest.run_id, PartitionSet.of_range(ONE))


def test_a_narrowed_column_is_as_wide_as_before_once_its_run_is_rolled_back(platform, run):
    run(platform, "a")
    narrow = declaring(platform, SHORTER)
    undo(narrow, run(narrow, "b", DAYS, "amount", publish_scope=PublishScope.WHOLE_RUN).run_id)
    assert columns(platform)["amount"] == ("long", False)
    assert seen(platform, "amount") == [(day(0), "a", 0), (day(1), "a", 1), (day(2), "a", 2)]


def test_columns_that_a_later_run_relies_on_do_not_change_back(platform, run):
    run(declaring(platform, NOTE), "a")
    removing = run(platform, "b", ONE, "note")
    run(platform, "c", REST)
    with pytest.raises(PlanRefused, match=f"{REST} would not be what it was"):
        undo(platform, removing.run_id)


def test_columns_change_back_once_later_runs_are_rolled_back_too(platform, run):
    run(declaring(platform, NOTE), "a")
    removing = run(platform, "b", ONE, "note")
    undo(platform, run(platform, "c", REST).run_id)
    undo(platform, removing.run_id)
    assert seen(platform, "note") == [(one, "a", "a") for one in DAYS]


def test_rows_without_a_value_do_not_return_where_it_has_become_required(platform, run):
    run(platform, "a")
    noting = declaring(platform, NOTE)
    noted = run(noting, "b")
    run(declaring(platform, replace(NOTE, is_nullable=False)), "c", ONE, "note")
    with pytest.raises(PlanRefused, match=f"what {REST} held before does not fit 'note'"):
        undo(noting, noted.run_id, PartitionSet.of_range(REST))


def test_a_removal_that_was_rolled_back_can_be_published_again(platform, run):
    run(declaring(platform, NOTE), "a")
    undo(platform, run(platform, "b", ONE, "note").run_id)
    run(platform, "c", ONE, "note")
    assert seen(platform) == [(day(0), "c"), (day(1), "a"), (day(2), "a")]


def test_a_table_downstream_is_told_that_its_input_has_still_its_former_columns(
    platform, intent, run
):
    run(platform, "a")
    manifest = plan_run(declaring(platform, NOTE), intent(SILVER, MIDDLE, "totals"))
    found = next(one for one in manifest.findings if one.check is Check.SCHEMA_KEPT)
    assert found.message.startswith("bronze.readings does not have 'note' as declared yet")


def test_a_table_downstream_is_planned_again_once_its_input_is_declared_otherwise(
    platform, intent, run
):
    run(platform, "a")
    manifest = plan_run(platform, intent(SILVER, MIDDLE, "totals"))
    with pytest.raises(ManifestDrifted, match=r"the schema of bronze\.readings"):
        start_run(declaring(platform, NOTE), manifest.run_id)


def test_a_foreign_column_that_is_not_declared_needs_consent(platform, plan, run):
    run(platform, "a")
    DeltaTable(target(platform)).alter.add_columns([Field("remark", PrimitiveType("string"))])
    with pytest.raises(PlanRefused, match=r"column 'remark' \(string\) is removed"):
        plan(platform, "b", ONE)
