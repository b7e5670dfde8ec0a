"""Planning on a real ledger, real files and real Delta logs; no Spark."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
import sqlalchemy as sa

from backfill_platform.domain.errors import (
    EvidenceBroken,
    ManifestDrifted,
    PlanRefused,
    RunStopped,
)
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import manifest_from_json, manifest_json
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import Input
from backfill_platform.engine.carry_out.deployment import pinned_transform
from backfill_platform.engine.carry_out.starting import open_run, start_run
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.plan.inputs import full_range, gather_input
from backfill_platform.engine.plan.planning import draft_manifest, plan_run
from backfill_platform.engine.records import bundle
from backfill_platform.settings import load_settings
from backfill_platform_tests.readings import BRONZE, LANDING, land, week

DAYS = week()
LATE = Input(name=LANDING, late_days=1)
NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def noon(platform):
    """The platform on a day after the tiny domain's week, at a clock that stands still."""
    return replace(platform, clock=lambda: NOON)


def tamper(statement: str) -> None:
    """As somebody would who owns the database: without its triggers."""
    engine = sa.create_engine(load_settings().ledger_url)
    with engine.begin() as connection:
        names = connection.scalars(sa.text("SELECT name FROM sqlite_master WHERE type='trigger'"))
        for name in names.all():
            connection.execute(sa.text(f"DROP TRIGGER {name}"))
        connection.execute(sa.text(statement))


def test_a_draft_is_exactly_what_is_planned_and_writes_nothing(noon, intent):
    draft = draft_manifest(noon, intent(BRONZE, DAYS, "plan"))
    assert noon.ledger.runs() == ()
    assert plan_run(noon, intent(BRONZE, DAYS, "plan")) == draft


def test_planning_twice_with_one_origin_is_planning_once(noon, intent):
    first = plan_run(noon, intent(BRONZE, DAYS, "plan"))
    assert plan_run(noon, intent(BRONZE, DAYS, "plan")) == first
    assert len(noon.ledger.runs()) == 1


def test_a_plan_is_kept_as_evidence_word_for_word(noon, intent):
    planned = plan_run(noon, intent(BRONZE, DAYS, "plan"))
    kept = bundle(noon, planned.run_id)
    assert kept.manifest_path.read_text() == noon.ledger.run(planned.run_id).manifest_json
    assert [record.kind for record in kept.records()] == ["plan"]


def test_a_second_run_on_overlapping_partitions_is_not_planned(noon, intent):
    first = plan_run(noon, intent(BRONZE, DAYS, "first"))
    later = DayRange(DAYS.start + timedelta(days=5), DAYS.end_exclusive)
    with pytest.raises(PlanRefused, match=first.run_id):
        plan_run(noon, intent(BRONZE, later, "second"))
    assert len(noon.ledger.runs()) == 1


def test_another_scope_is_another_version_that_names_what_it_replaces(noon, intent):
    first = plan_run(noon, intent(BRONZE, DAYS, "first"))
    fewer = DayRange(DAYS.start, DAYS.start + timedelta(days=3))
    second = plan_run(noon, intent(BRONZE, fewer, "second", replaces=first.run_id))
    assert second.scope_version == 2
    assert second.replaces is not None
    assert second.replaces.manifest_digest == first.digest
    assert noon.ledger.run(first.run_id).state is RunState.CANCELLED


def test_everything_is_what_every_input_holds(noon):
    spec = noon.catalog.tables[BRONZE]
    assert full_range(noon, spec) == PartitionSet.of_range(DAYS)


def test_everything_of_nothing_is_refused_with_the_input_to_load(noon):
    with pytest.raises(PlanRefused, match=r"bronze\.readings holds nothing"):
        full_range(noon, noon.catalog.tables["silver.totals"])


def test_a_changed_manifest_is_never_carried_out(noon, intent):
    planned = plan_run(noon, intent(BRONZE, DAYS, "plan"))
    tamper("UPDATE run SET manifest_json = replace(manifest_json, 'tests', 'other')")
    with pytest.raises(EvidenceBroken, match=planned.run_id):
        load_manifest(noon, planned.run_id)


def test_a_plan_that_nobody_began_in_time_expires(noon, intent):
    planned = plan_run(noon, intent(BRONZE, DAYS, "plan"))
    later = replace(noon, clock=lambda: planned.valid_until)
    with pytest.raises(RunStopped, match="has expired"):
        start_run(later, planned.run_id)
    assert noon.ledger.run(planned.run_id).state is RunState.EXPIRED


def test_a_run_whose_input_was_landed_again_does_not_start_and_says_which_days(noon, intent):
    planned = plan_run(noon, intent(BRONZE, DAYS, "plan"))
    land(noon.landing, DayRange.of_day(DAYS.last), [("c", 9)])
    with pytest.raises(ManifestDrifted, match=rf"{LANDING} was landed again for {DAYS.last}"):
        start_run(noon, planned.run_id)
    assert noon.ledger.run(planned.run_id).state is RunState.PLANNED


def test_a_damaged_file_is_refused_by_its_name(noon, intent):
    damaged = noon.landing / "readings" / f"day={DAYS.start}" / "readings.parquet"
    damaged.write_bytes(b"not parquet")
    with pytest.raises(PlanRefused, match=r"readings\.parquet is no readable Parquet file"):
        plan_run(noon, intent(BRONZE, DAYS, "plan"))


def test_another_container_image_is_drift(noon, intent):
    planned = plan_run(noon, intent(BRONZE, DAYS, "plan"))
    other = replace(noon, container_image="registry/platform:2")
    with pytest.raises(ManifestDrifted, match="the container image: planned nothing"):
        start_run(other, planned.run_id)


def test_a_started_run_has_its_staging_table_and_is_approved_by_the_rule(noon, intent):
    started = open_run(noon, intent(BRONZE, DAYS, "plan"))
    assert noon.warehouse.staging_path(BRONZE, started.run_id).exists()
    causes = [event.cause for event in noon.ledger.events(started.run_id)]
    assert causes == ["planned", "rule 'nobody' asks nobody"]


def declares_otherwise(platform):
    """The same deployment, in which the table promises more than when the run was planned."""
    spec = platform.catalog.tables[BRONZE]
    changed = replace(spec, quality=replace(spec.quality, rows_most=1_000))
    tables = {**platform.catalog.tables, BRONZE: changed}
    return replace(platform, catalog=replace(platform.catalog, tables=tables))


def test_a_table_that_promises_otherwise_than_when_it_was_planned_is_drift(noon, intent):
    planned = plan_run(noon, intent(BRONZE, DAYS, "plan"))
    with pytest.raises(ManifestDrifted, match=rf"what {BRONZE} declares about its content"):
        start_run(declares_otherwise(noon), planned.run_id)
    assert noon.ledger.run(planned.run_id).state is RunState.PLANNED


def test_a_run_of_a_format_that_named_no_promises_drifts_from_none(noon, intent):
    planned = plan_run(noon, intent(BRONZE, DAYS, "plan"))
    older = replace(planned, format=3, validation=replace(planned.validation, quality_digest=None))
    read = manifest_from_json(manifest_json(older))
    assert pinned_transform(declares_otherwise(noon), read).version == "1.0.0"


def test_days_after_which_more_has_landed_are_not_open(noon, intent):
    """The last late day of 7 January did not land, and the day after it did."""
    loaded = [DayRange.of_day(date(2025, 1, day)) for day in (7, 9)]
    land(noon.landing, loaded[1])
    known = gather_input(noon, intent(BRONZE, loaded[0], "plan"), LATE)
    assert (known.holds_later, known.days_present) == (True, PartitionSet.of_range(loaded[0]))


def test_days_after_which_nothing_has_landed_yet_are_open(noon, intent):
    known = gather_input(noon, intent(BRONZE, DayRange.of_day(DAYS.last), "plan"), LATE)
    assert known.holds_later is False
