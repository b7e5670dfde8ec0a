"""`backfill up` as a user meets it: real webserver, daemon and Spark, real launches."""

import signal
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from pyspark.sql.connect.session import SparkSession

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.runs import RunRecord
from backfill_platform.engine.consent.approving import decide, draft_approval
from backfill_platform.lakehouse.delta_files import TableState
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.lakehouse.processes import is_listening
from backfill_platform_tests.readings import BRONZE, SILVER, land, week
from backfill_platform_tests.scenarios.running_up import Up, running_up, up_command

DAYS = week()
KEYS = [day.isoformat() for day in DAYS]
LOADED = ["staging/bronze/readings", "bronze/readings"]
POISONED = DayRange(DAYS.end_exclusive, DAYS.end_exclusive.replace(day=11))
TOTALLED = ["staging/silver/totals", "silver/totals"]


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    home = tmp_path_factory.mktemp("home")
    land(home / "landing", DAYS)
    catalog = "backfill_platform_tests.readings:DECLARATIONS"
    with running_up(home, catalog=catalog, policy="review.yaml") as started:
        yield started


@dataclass(frozen=True)
class Finished:
    backfill_id: str
    page: dict


@pytest.fixture(scope="module")
def first_load(up: Up) -> Finished:
    (load,) = finish(up, [(LOADED + TOTALLED, KEYS[:5], "first load")])
    return load


@pytest.fixture(scope="module")
def together(up: Up, first_load: Finished) -> dict[str, Finished]:
    """Launched at once, because the daemon looks for backfills every half minute only."""
    land(up.platform.landing, POISONED, [("a", 1), ("a", 1)])
    wanted = [
        (LOADED[:1], KEYS, "reviewed first"),
        (LOADED + TOTALLED, KEYS, "too much at once"),
        (LOADED, [day.isoformat() for day in POISONED], "poisoned"),
        (TOTALLED, KEYS[:5], "unreviewed"),
    ]
    names = [reason for _, _, reason in wanted]
    return dict(zip(names, finish(up, wanted), strict=True))


@pytest.fixture(scope="module")
def agreed(up: Up, together: dict[str, Finished]) -> Finished:
    """What was staged for review is approved and then published by a launch that names it."""
    run_id = runs_of(up, "reviewed first")[BRONZE].run_id
    decide(up.platform, draft_approval(up.platform, run_id, principal="owner"))
    launched = up.client.launch_backfill(LOADED[1:], KEYS, {"backfill/run": run_id})
    return Finished(launched, up.client.finished_backfill(launched))


def finish(up: Up, wanted: Sequence[tuple[list[str], list[str], str]]) -> list[Finished]:
    launched = [
        up.client.launch_backfill(
            assets, days, {"backfill/reason": reason, "backfill/ticket": "T-1"}
        )
        for assets, days, reason in wanted
    ]
    return [Finished(one, up.client.finished_backfill(one)) for one in launched]


def loaded_table(up: Up) -> TableState | None:
    return read_table_state(up.platform.warehouse.table_path(BRONZE), None)


def runs_of(up: Up, reason: str) -> dict[str, RunRecord]:
    return {run.table: run for run in up.platform.ledger.runs() if run.reason == reason}


def test_runs_share_what_spark_has_compiled(up):
    """Otherwise Spark gives each run class loaders of its own, and each compiles all of it anew."""
    session = SparkSession(connection=f"sc://127.0.0.1:{up.ports[1]}")
    isolated = session.conf.get("spark.sql.artifact.isolation.enabled")
    session.client.close()
    assert isolated == "false"


def test_a_range_over_all_tables_lands_in_one_backfill(first_load):
    assert first_load.page["status"] == "COMPLETED_SUCCESS"
    statuses = first_load.page["assetBackfillData"]["assetBackfillStatuses"]
    assert [status["numPartitionsMaterialized"] for status in statuses] == [5, 5, 5, 5]


def test_every_dagster_run_carries_the_names_of_its_runs(up, first_load):
    (tags,) = up.client.tags_of_runs(first_load.backfill_id)
    runs = runs_of(up, "first load")
    assert tags[f"backfill/run_id.{BRONZE}"] == runs[BRONZE].run_id
    assert tags[f"backfill/run_id.{SILVER}"] == runs[SILVER].run_id
    assert (tags["backfill/ticket"], tags["backfill/mode"]) == ("T-1", "BACKFILL")


def test_the_chunks_of_a_backfill_are_one_run_with_one_manifest(up, together):
    backfill = together["reviewed first"]
    assert backfill.page["status"] == "COMPLETED_SUCCESS"
    assert len(up.client.tags_of_runs(backfill.backfill_id)) == 2
    run = runs_of(up, "reviewed first")[BRONZE]
    assert len(up.platform.ledger.chunks(run.run_id)) == 2


def test_a_launch_that_lacks_consent_is_refused_before_anything_is_computed(up, together):
    assert together["unreviewed"].page["status"] == "COMPLETED_FAILED"
    run = runs_of(up, "unreviewed")[SILVER]
    assert up.platform.ledger.chunks(run.run_id) == ()


def test_what_was_reviewed_first_is_published_after_the_approval(up, together, agreed):
    assert agreed.page["status"] == "COMPLETED_SUCCESS"
    assert runs_of(up, "reviewed first")[BRONZE].state is RunState.PUBLISHED


def test_a_table_and_its_input_over_more_than_one_chunk_are_refused_by_the_first_step(up, together):
    assert together["too much at once"].page["status"] == "COMPLETED_FAILED"
    assert runs_of(up, "too much at once") == {}


def test_a_poisoned_day_fails_its_gate_and_is_not_in_the_table(up, together, agreed):
    assert together["poisoned"].page["status"] == "COMPLETED_FAILED"
    assert runs_of(up, "poisoned")[BRONZE].state is RunState.FAILED
    table = loaded_table(up)
    assert table is not None
    assert set(table.files) == set(DAYS)


def test_a_used_port_is_one_clear_sentence(up):
    given = {
        "BACKFILL_HOME": str(up.platform.landing.parent),
        "BACKFILL_WEBSERVER_PORT": str(up.ports[0]),
    }
    second = subprocess.run(
        up_command(given),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert second.returncode == 1
    assert f"Port {up.ports[0]} is in use" in second.stderr


def test_ctrl_c_stops_everything(up):
    """The last one of this module: it ends what the others use."""
    up.process.send_signal(signal.SIGINT)
    assert up.process.wait(timeout=60) == 0
    assert [is_listening("127.0.0.1", port) for port in up.ports] == [False, False]
