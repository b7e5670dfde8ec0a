"""Who takes part: each does the same range of three tables, and says what that took.

Everybody starts Spark with the same options, reads the same landed files and writes into a folder
of their own. Where a session or service has to be warm, it has done the same range before.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import time

from backfill_platform.cli.environment import enter_project
from backfill_platform.domain.partitions import ONE_DAY, DayRange
from backfill_platform.enforcement.bronze import FIRST_DAY
from backfill_platform.lakehouse.connect_server import connect_server_command
from backfill_platform.lakehouse.jars import jar_paths
from backfill_platform.lakehouse.processes import running, wait_until_listening
from backfill_platform.lakehouse.session import session_config
from backfill_platform.ledger.migrate import migrate
from backfill_platform.orchestration.services import dagster_command
from backfill_platform.settings import PROJECT, Settings, load_settings
from backfill_platform_tests.scenarios.dagster_client import DagsterClient
from backfill_platform_tests.scenarios.running_up import POLICIES, free_ports
from benchmarks.pipeline.launched import launch, launch_refused
from benchmarks.pipeline.raw import without_writing
from benchmarks.pipeline.shapes import Shape
from benchmarks.pipeline.taken import Taken
from benchmarks.pipeline.usage import watched

HOST, START_SECONDS = "127.0.0.1", 180.0
WARMING = 3  # rounds that do not count: Java goes on compiling for as long
NOBODY = POLICIES / "nobody.yaml"
PLAIN_ASSETS = ("bronze", "silver", "gold")
OUR_ASSETS = tuple(
    f"{prefix}{name}"
    for name in ("bronze/case_events", "silver/case_sla_daily", "gold/sla_breaches_daily")
    for prefix in ("staging/", "")
)

_PLAIN_INSTANCE = """
telemetry:
  enabled: false
concurrency:
  runs:
    max_concurrent_runs: 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    shape: Shape
    folder: Path
    rounds: int

    @property
    def landing(self) -> Path:
        return self.folder / "landing"

    @property
    def few_days(self) -> DayRange:
        return DayRange(self.shape.range.start, self.shape.range.start + 3 * ONE_DAY)

    def home(self, who: str, number: int) -> Path:
        return self.folder / f"{'-'.join(who.replace(',', '').split())}-{number}"


def raw(
    who: str,
    contest: Contest,
    *,
    rounds: int,
    warming: int = WARMING,
    folder: str = "raw",
    options: Sequence[str] = (),
) -> Iterator[Taken]:
    """Without rounds that warm it up, the first is timed from the start of its process."""
    days, warehouses = contest.shape.range, contest.folder / folder
    command = [
        *(sys.executable, "-m", "benchmarks.pipeline.raw", str(contest.landing), str(warehouses)),
        *(str(days.start), str(days.last), "--rounds", str(warming + rounds)),
        *options,
    ]
    began = time()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT) as process:
        assert process.stdout is not None
        with watched(process.pid) as usage:
            for number in range(warming + rounds):
                usage.begin()
                said = json.loads(process.stdout.readline() or _failed(command))
                ended = time()
                if number >= warming:
                    yield Taken(
                        who=who,
                        seconds=ended - began,
                        cpu_seconds=usage.cpu_seconds,
                        peak_gigabytes=usage.peak_gigabytes,
                        warehouse=warehouses / str(said["round"]),
                    )
                began = time()


def _failed(command: Sequence[str]) -> str:
    raise RuntimeError(f"{' '.join(command)} has ended early: see above")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spark:
    """A warm one, for whoever is given it."""

    remote: str
    process: int


@contextmanager
def warm_spark(folder: Path) -> Iterator[Spark]:
    settings = load_settings()
    enter_project(settings)
    port, _ = free_ports()
    config = session_config(
        jar_paths(settings.cache_dir), driver_memory=settings.spark_driver_memory
    )
    command = connect_server_command(
        without_writing(config),  # sessions of the platform bring it along
        master=settings.spark_master,
        host=HOST,
        port=port,
    )
    log = folder / "spark.log"
    with running("Spark Connect", command, host=HOST, port=port, log=log) as service:
        wait_until_listening(service, timeout_seconds=START_SECONDS)
        yield Spark(remote=f"sc://{HOST}:{port}", process=service.process.pid)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A home with its own Dagster."""

    settings: Settings
    client: DagsterClient
    processes: tuple[int, ...]


@contextmanager
def our_dagster(
    home: Path, landing: Path, spark: Spark | None, policy: Path = NOBODY
) -> Iterator[Place]:
    """What `backfill up` starts, over a home of its own."""
    settings = _settings(home, landing, spark, policy)
    settings.dagster_storage.mkdir(parents=True, exist_ok=True)
    migrate(settings.ledger_url)
    port, _ = free_ports()
    command = dagster_command(project=PROJECT, host=HOST, port=port)
    with _dagster(settings, command, port, spark) as place:
        # A service that is up has launched something before.
        launch_refused(place.client, OUR_ASSETS[0], FIRST_DAY)
        yield place


@contextmanager
def plain_dagster(
    home: Path, landing: Path, spark: Spark | None, attribute: str
) -> Iterator[Place]:
    """With the instance that Dagster makes where nobody configures one, but for one run at a time:
    runs of several days at once would all make the same tables, and fail."""
    settings = _settings(home, landing, spark, NOBODY)
    settings.home.mkdir(parents=True)
    (settings.home / "dagster.yaml").write_text(_PLAIN_INSTANCE, encoding="utf-8")
    port, _ = free_ports()
    command = [
        *(sys.executable, "-m", "dagster", "dev"),
        *("-m", "benchmarks.pipeline.plain", "-a", attribute),
        *("--host", HOST, "--port", str(port), "--log-level", "warning"),
    ]
    with _dagster(settings, command, port, spark, DAGSTER_HOME=str(settings.home)) as place:
        yield place


def _settings(home: Path, landing: Path, spark: Spark | None, policy: Path) -> Settings:
    return load_settings(
        home=home,
        landing=landing,
        governance=policy,
        spark_remote=spark.remote if spark else "",
        # Spelled out, because this process has entered the environment of another home.
        ledger_url=f"sqlite:///{home / 'ledger.db'}",
        warehouse=home / "warehouse",
        evidence=home / "evidence",
        dagster_storage=home / "dagster",
        log_file=home / "logs" / "backfill.jsonl",
        lineage_file=home / "lineage" / "openlineage.jsonl",
    )


@contextmanager
def _dagster(
    settings: Settings, command: list[str], port: int, spark: Spark | None, **environment: str
) -> Iterator[Place]:
    given = enter_project(settings) | {"BACKFILL_SPARK_REMOTE": settings.spark_remote} | environment
    prefixed = ["env", *(f"{name}={value}" for name, value in given.items()), *command]
    log = settings.home / "logs" / "dagster.log"
    with running("Dagster", prefixed, host=HOST, port=port, log=log) as service:
        wait_until_listening(service, timeout_seconds=START_SECONDS)
        processes = (service.process.pid, *((spark.process,) if spark else ()))
        client = DagsterClient(f"http://{HOST}:{port}")
        yield Place(settings=settings, client=client, processes=processes)


def launched(
    who: str,
    place: Place,
    assets: Sequence[str],
    days: DayRange,
    tags: Mapping[str, str],
) -> Taken:
    with watched(*place.processes) as usage:
        done = launch(place.client, assets, days, tags)
    return Taken(
        who=who,
        seconds=done.seconds,
        cpu_seconds=usage.cpu_seconds,
        peak_gigabytes=usage.peak_gigabytes,
        warehouse=place.settings.warehouse,
        waited=done.waited,
        starting=done.starting,
    )
