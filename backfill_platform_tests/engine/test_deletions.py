"""Listed subjects do not come back: not by a plan, a publication or a rollback. Without Spark."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backfill_platform.domain.errors import (
    GateFailed,
    ManifestDrifted,
    PlanRefused,
    PrivacyRefused,
)
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import Classification
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.privacy import ListedSubjects, Mask
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.deletions import run_protection
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.engine.publish.comparing import compare_run
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.records import bundle
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.ledger.migrate import migrate
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform.settings import load_settings
from backfill_platform_tests.delta_reader import read_table
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand
from backfill_platform_tests.modes import FORGOTTEN, PRIVATE, forget
from backfill_platform_tests.readings import land, week

NOBODY = Path(__file__).parent.parent / "policies" / "nobody.yaml"
DAYS = week(days=2)
NO_SPARK: Any = None  # what is refused reads nothing
OF_B = {day: ["b"] for day in DAYS}
OF_C = {day: ["b", "c"] for day in DAYS}


@pytest.fixture
def platform(home) -> Platform:
    """`a` is forgotten; two days have landed."""
    settings = load_settings(
        catalog="backfill_platform_tests.modes:DECLARATIONS", governance=NOBODY
    )
    migrate(settings.ledger_url)
    land(settings.landing, DAYS)
    forget(settings.landing, "a")
    return open_platform(settings)


@pytest.fixture
def planned(platform, intent):
    def plan(origin: str, days: DayRange = DAYS):
        return plan_run(platform, intent(PRIVATE, days, origin))

    return plan


def request(run_id) -> RollbackRequest:
    return RollbackRequest(run_id=run_id, days=None, reason="wrong", requested_by="tests")


def test_a_plan_pins_digest_and_number_and_nobody(platform, planned):
    listed = ListedSubjects(list_name=FORGOTTEN.name, subjects=frozenset({"a"}))
    assert planned("one").deletions == listed.pinned


def test_a_plan_without_its_list_is_refused(platform, planned):
    (platform.landing / FORGOTTEN.path / "list.csv").unlink()
    with pytest.raises(PlanRefused, match=r"landing\.forgotten .*forgotten is not there"):
        planned("one")


def test_a_run_does_not_begin_with_another_list_than_the_planned_one(platform, planned):
    manifest = planned("one")
    forget(platform.landing, "a", "b")
    with pytest.raises(ManifestDrifted, match=r"named 1 subjects .* and names 2 now"):
        start_run(platform, manifest.run_id)


def test_a_chunk_is_not_computed_with_another_list_than_the_planned_one(platform, planned):
    manifest = planned("one")
    assert run_protection(platform, manifest).promises == ("listed_subjects",)
    (platform.landing / FORGOTTEN.path / "list.csv").write_text("torn")
    with pytest.raises(ManifestDrifted, match="cannot be used"):
        run_protection(platform, manifest)


def test_publication_is_refused_when_the_list_has_grown_since_staging(platform, planned):
    manifest = planned("one")
    stage_by_hand(platform, manifest, OF_B)
    forget(platform.landing, "a", "b")
    with pytest.raises(GateFailed, match=r"and names 2 now.*plan a new run, which leaves them out"):
        publish_chunk(platform, manifest.run_id, DAYS)
    assert platform.ledger.run(manifest.run_id).state is RunState.VALIDATED
    assert platform.ledger.open_intents() == ()
    assert platform.ledger.accepted(PRIVATE, DAYS) == {}


def test_what_is_published_is_not_refused_when_it_is_published_again(platform, planned):
    manifest = planned("one")
    run_by_hand(platform, manifest, OF_B)
    forget(platform.landing, "a", "b")
    again = publish_chunk(platform, manifest.run_id, DAYS)
    assert (again.changed, len(again.accepted)) == ((), len(DAYS))


class DyingLedger:
    """A ledger that is lost between the commit and the fact."""

    def __init__(self, ledger) -> None:
        self._ledger = ledger

    def __getattr__(self, name):
        return getattr(self._ledger, name)

    def record_fact(self, *_given, **_named):
        raise ConnectionError("the ledger is gone")


def test_what_landed_before_a_crash_is_told_as_it_landed_although_the_list_has_grown(
    platform, planned
):
    manifest = planned("one")
    stage_by_hand(platform, manifest, OF_B)
    dying: Any = DyingLedger(platform.ledger)
    with pytest.raises(ConnectionError):
        publish_chunk(replace(platform, ledger=dying), manifest.run_id, DAYS)
    forget(platform.landing, "a", "b")
    publish_chunk(platform, manifest.run_id, DAYS)
    assert platform.ledger.run(manifest.run_id).state is RunState.PUBLISHED


def test_a_run_does_not_begin_with_other_masks_than_the_planned_ones(platform, planned):
    manifest = planned("one")
    spec = platform.catalog.tables[PRIVATE]
    classes = {"meter": Classification.RESTRICTED}
    privacy = replace(spec.privacy, column_classes=classes, masks={"meter": Mask.SHA256})
    tables = {**platform.catalog.tables, PRIVATE: replace(spec, privacy=privacy)}
    other = replace(platform, catalog=replace(platform.catalog, tables=tables))
    with pytest.raises(ManifestDrifted, match="the configuration: planned"):
        start_run(other, manifest.run_id)


def test_a_list_that_shrinks_is_refused_by_the_next_plan(platform, planned):
    run_by_hand(platform, planned("one"), OF_B)
    forget(platform.landing)
    with pytest.raises(PlanRefused, match="names 0 subjects and 1 were left out"):
        planned("two")


def test_a_rollback_by_the_same_list_returns_what_was_there(platform, planned):
    run_by_hand(platform, planned("one"), OF_B)
    second = planned("two")
    run_by_hand(platform, second, OF_C)
    rollback = plan_rollback(platform, request(second.run_id))
    roll_back(platform, rollback.run_id)
    assert {row["meter"] for row in read_table(platform.warehouse.table_path(PRIVATE))} == {"b"}


def test_a_rollback_after_the_list_has_grown_is_refused(platform, planned):
    run_by_hand(platform, planned("one"), OF_C)
    forget(platform.landing, "a", "c")
    second = planned("two")
    run_by_hand(platform, second, OF_B)
    with pytest.raises(PlanRefused, match="could come back; restate these days with a new run"):
        plan_rollback(platform, request(second.run_id))


def test_a_planned_rollback_is_not_carried_out_once_the_list_has_grown(platform, planned):
    run_by_hand(platform, planned("one"), OF_C)
    second = planned("two")
    run_by_hand(platform, second, OF_B)
    rollback = plan_rollback(platform, request(second.run_id))
    forget(platform.landing, "a", "c")
    with pytest.raises(ManifestDrifted, match="and names 2 now"):
        roll_back(platform, rollback.run_id)


def test_nobody_who_is_listed_stands_in_ledger_or_evidence(platform, intent):
    forget(platform.landing, "subject-4711")
    manifest = plan_run(platform, intent(PRIVATE, DAYS, "one"))
    run_by_hand(platform, manifest, OF_B)
    kept = bundle(platform, manifest.run_id).manifest_path.parent
    written = [path for path in kept.rglob("*") if path.is_file()]
    written.append(platform.landing.parent / "ledger.db")
    assert [path for path in written if b"subject-4711" in path.read_bytes()] == []


def test_a_comparison_by_whom_rows_are_about_is_refused(platform, planned):
    manifest = planned("one")
    stage_by_hand(platform, manifest, OF_B)
    with pytest.raises(PrivacyRefused, match=r"meter of silver\.private is private"):
        compare_run(platform, NO_SPARK, manifest.run_id, by=["meter"])
