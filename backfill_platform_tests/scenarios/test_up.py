"""`backfill up` as a user meets it: real webserver, daemon and Spark, real launches."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.lakehouse.processes import is_listening
from backfill_platform.ledger.migrate import migrate
from backfill_platform.settings import load_settings
from backfill_platform_tests.readings import BRONZE, SILVER, land, week
from backfill_platform_tests.scenarios.dagster_client import DagsterClient, wait_for

DAYS = week()
KEYS = [day.isoformat() for day in DAYS]
BACKFILL = Path(sys.executable).with_name("backfill")
LOADED = ["staging/bronze/readings", "bronze/readings"]
TOTALLED = ["staging/silver/totals", "silver/totals"]


@dataclass(frozen=True)
class Up:
    platform: Platform
    client: DagsterClient
    process: "subprocess.Popen[bytes]"
    ports: tuple[int, int]


def up_command(given: Mapping[str, str]) -> list[str]:
    return ["env", *(f"{name}={value}" for name, value in given.items()), str(BACKFILL), "up"]


def free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    ports = free_ports()
    given = {
        "BACKFILL_HOME": str(tmp_path_factory.mktemp("home")),
        "BACKFILL_CATALOG": "backfill_platform_tests.readings:DECLARATIONS",
        "BACKFILL_WEBSERVER_PORT": str(ports[0]),
        "BACKFILL_CONNECT_PORT": str(ports[1]),
        "BACKFILL_SPARK_MASTER": "local[2]",
    }
    settings = load_settings(home=given["BACKFILL_HOME"], catalog=given["BACKFILL_CATALOG"])
    settings.dagster_storage.mkdir(parents=True)
    migrate(settings.ledger_url)
    land(settings.landing, DAYS)
    process = subprocess.Popen(up_command(given))
    client = DagsterClient(f"http://127.0.0.1:{ports[0]}")
    wait_for(lambda: True if is_listening("127.0.0.1", ports[0]) else process.poll(), seconds=180)
    yield Up(platform=open_platform(settings), client=client, process=process, ports=ports)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)


def launch(up: Up, assets: list[str], days: list[str], **tags: str) -> tuple[str, dict]:
    given = {f"backfill/{name}": value for name, value in tags.items()}
    backfill_id = up.client.launch_backfill(assets, days, given)
    return backfill_id, up.client.finished_backfill(backfill_id)


def test_a_range_over_all_tables_lands_in_one_backfill(up):
    backfill_id, page = launch(up, LOADED + TOTALLED, KEYS[:5], reason="first load", ticket="T-1")
    assert page["status"] == "COMPLETED_SUCCESS"
    assert {
        status["numPartitionsMaterialized"]
        for status in page["assetBackfillData"]["assetBackfillStatuses"]
    } == {5}
    (tags,) = up.client.tags_of_runs(backfill_id)
    runs = {run.table: run for run in up.platform.ledger.runs() if run.reason == "first load"}
    assert tags[f"backfill/run_id.{BRONZE}"] == runs[BRONZE].run_id
    assert tags[f"backfill/run_id.{SILVER}"] == runs[SILVER].run_id
    assert (tags["backfill/ticket"], tags["backfill/mode"]) == ("T-1", "BACKFILL")


def test_the_chunks_of_a_backfill_are_one_run_with_one_manifest(up):
    backfill_id, page = launch(up, LOADED, KEYS, reason="in two chunks")
    assert page["status"] == "COMPLETED_SUCCESS"
    assert len(up.client.tags_of_runs(backfill_id)) == 2
    (run,) = [run for run in up.platform.ledger.runs() if run.reason == "in two chunks"]
    assert len(up.platform.ledger.chunks(run.run_id)) == 2
    assert run.state.value == "PUBLISHED"


def test_a_table_and_its_input_over_more_than_one_chunk_are_refused_by_the_first_step(up):
    before = up.platform.ledger.runs()
    _, page = launch(up, LOADED + TOTALLED, KEYS, reason="too much at once")
    assert page["status"] == "COMPLETED_FAILED"
    assert up.platform.ledger.runs() == before


def test_a_poisoned_day_fails_its_gate_and_leaves_the_table_as_it_was(up):
    path = up.platform.warehouse.table_path(BRONZE)
    before = read_table_state(path, None)
    land(up.platform.landing, [DAYS.start], [("a", 1), ("a", 1)])
    _, page = launch(up, LOADED, KEYS[:5], reason="poisoned")
    land(up.platform.landing, [DAYS.start])
    assert page["status"] == "COMPLETED_FAILED"
    assert read_table_state(path, None) == before


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
