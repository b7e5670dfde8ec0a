"""`backfill up` for a test: real webserver, daemon and Spark over a home of its own."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.lakehouse.processes import is_listening
from backfill_platform.ledger.migrate import migrate
from backfill_platform.settings import load_settings
from backfill_platform_tests.scenarios.dagster_client import DagsterClient, wait_for

BACKFILL = Path(sys.executable).with_name("backfill")
POLICIES = Path(__file__).parent.parent / "policies"


@dataclass(frozen=True)
class Up:
    platform: Platform
    client: DagsterClient
    process: "subprocess.Popen[bytes]"
    ports: tuple[int, int]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports[0]}"


def prepared(home: Path, *, catalog: str, policy: str) -> Platform:
    """What `backfill setup` leaves, and whoever wants to may fill, before anything is started."""
    settings = load_settings(home=home, catalog=catalog, governance=POLICIES / policy)
    settings.dagster_storage.mkdir(parents=True, exist_ok=True)
    migrate(settings.ledger_url)
    return open_platform(settings)


@contextmanager
def running_up(home: Path, *, catalog: str, policy: str) -> Iterator[Up]:
    ports = free_ports()
    given = {
        "BACKFILL_HOME": str(home),
        "BACKFILL_CATALOG": catalog,
        "BACKFILL_WEBSERVER_PORT": str(ports[0]),
        "BACKFILL_CONNECT_PORT": str(ports[1]),
        "BACKFILL_SPARK_MASTER": "local[2]",
        "BACKFILL_GOVERNANCE": str(POLICIES / policy),
    }
    platform = prepared(home, catalog=catalog, policy=policy)
    process = subprocess.Popen(up_command(given))
    client = DagsterClient(f"http://127.0.0.1:{ports[0]}")
    wait_for(lambda: True if is_listening("127.0.0.1", ports[0]) else process.poll(), seconds=180)
    yield Up(platform=platform, client=client, process=process, ports=ports)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)


def up_command(given: Mapping[str, str]) -> list[str]:
    return ["env", *(f"{name}={value}" for name, value in given.items()), str(BACKFILL), "up"]


def free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
