"""What comes together is stored as Dagster stores each alone: asked alike, both say the same."""

import threading

import dagster as dg
import pytest
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationPlanned,
)
from dagster._core.definitions.partitions.subset import DefaultPartitionsSubset
from dagster._core.events import AssetMaterializationPlannedData, StepMaterializationData
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log import SqliteEventLogStorage

from backfill_platform.orchestration.event_log import EventLog

RUN, TABLE, CHECK = "run-1", dg.AssetKey(["silver", "cases"]), "key_unique"
DAYS = ("2025-01-01", "2025-01-02", "2025-01-03")
KINDS = dg.DagsterEventType


def _event(kind: KINDS, said, *, run: str = RUN) -> EventLogEntry:
    return EventLogEntry(
        user_message="",
        level=10,
        run_id=run,
        timestamp=1_700_000_000.0,
        error_info=None,
        step_key="stage",
        job_name="job",
        dagster_event=dg.DagsterEvent(
            event_type_value=kind.value,
            job_name="job",
            step_key="stage",
            event_specific_data=said,
        ),
    )


def _planned(run: str = RUN) -> list[EventLogEntry]:
    check = AssetCheckEvaluationPlanned(
        asset_key=TABLE,
        check_name=CHECK,
        partitions_subset=DefaultPartitionsSubset(set(DAYS)),
    )
    return [
        *(
            _event(
                KINDS.ASSET_MATERIALIZATION_PLANNED,
                AssetMaterializationPlannedData(TABLE, partition=day),
                run=run,
            )
            for day in DAYS
        ),
        _event(KINDS.ASSET_CHECK_EVALUATION_PLANNED, check, run=run),
    ]


def _materialized(rows: int = 5, *, run: str = RUN) -> list[EventLogEntry]:
    return [
        _event(
            KINDS.ASSET_MATERIALIZATION,
            StepMaterializationData(
                dg.AssetMaterialization(
                    TABLE,
                    partition=day,
                    metadata={"rows": rows},
                    tags={"dagster/data_version": f"{day}-{rows}"},
                )
            ),
            run=run,
        )
        for day in DAYS
    ]


def _judged(*passed: bool) -> list[EventLogEntry]:
    return [
        _event(
            KINDS.ASSET_CHECK_EVALUATION,
            dg.AssetCheckEvaluation(
                asset_key=TABLE, check_name=CHECK, passed=one, metadata={}, partition=day
            ),
        )
        for one, day in zip(passed, DAYS, strict=False)
    ]


STORIES = {
    "planned and materialized": [_planned(), _materialized()],
    "materialized twice": [_materialized(), _materialized(rows=6)],
    "planned and judged": [_planned(), _judged(True, False, True)],
    "judged and never planned": [_judged(True, True)],
    "judged again by the same run": [_planned(), _judged(True, True, True), _judged(False)],
    "all of it at once": [[*_planned(), *_materialized(), *_judged(True, False, True)]],
}


@pytest.fixture
def own(tmp_path):
    log = EventLog(str(tmp_path / "own"))
    yield log
    log.dispose()


@pytest.mark.parametrize("story", STORIES.values(), ids=list(STORIES))
def test_a_batch_is_stored_as_dagster_stores_its_events_one_by_one(tmp_path, own, story):
    dagsters = SqliteEventLogStorage(str(tmp_path / "dagsters"))
    for batch in story:
        own.store_event_batch(batch)
        for event in batch:
            dagsters.store_event(event)
    assert _answers(own) == _answers(dagsters)


def _answers(log):
    checks = log.get_asset_check_execution_history(dg.AssetCheckKey(TABLE, CHECK), limit=100)
    logged = log.get_records_for_run(RUN).records
    kinds = (KINDS.ASSET_MATERIALIZATION, KINDS.ASSET_MATERIALIZATION_PLANNED)
    return {
        "log": [record.event_log_entry for record in logged],
        "assets": log.all_asset_keys(),
        "newest": [
            (record.asset_entry.last_run_id, record.asset_entry.last_materialization)
            for record in log.get_asset_records([TABLE])
        ],
        "partitions": {kind: log.get_latest_storage_id_by_partition(TABLE, kind) for kind in kinds},
        "tags": log.get_latest_tags_by_partition(
            TABLE, KINDS.ASSET_MATERIALIZATION, ["dagster/data_version"]
        ),
        "checks": {
            (one.partition, one.status, one.run_id, one.event.dagster_event.event_type_value)
            for one in checks
        },
    }


def test_of_a_batch_that_cannot_be_stored_nothing_is(own, monkeypatch):
    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(own, "_store_asset_event_tags", fail)
    with pytest.raises(OSError, match="no space"):
        own.store_event_batch(_materialized())
    monkeypatch.undo()
    assert not own.get_records_for_run(RUN).records
    own.store_event_batch(_materialized())
    assert len(own.get_records_for_run(RUN).records) == len(DAYS)


def test_more_runs_than_files_stay_open_keep_all_they_were_told(own):
    runs = [f"run-{number}" for number in range(10)]
    for run in runs:
        own.store_event_batch(_planned(run))
    for run in runs:
        own.store_event(_planned(run)[0])
    assert {len(own.get_records_for_run(run).records) for run in runs} == {len(DAYS) + 2}


def test_two_threads_that_store_at_once_lose_nothing(own):
    runs = ["run-a", "run-b"]

    def store(run: str) -> None:
        for _ in range(10):
            own.store_event_batch(_materialized(run=run))

    threads = [threading.Thread(target=store, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {len(own.get_records_for_run(run).records) for run in runs} == {10 * len(DAYS)}
