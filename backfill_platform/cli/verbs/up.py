"""Verb `up`: webserver, daemon and a warm Spark on localhost, until Ctrl-C stops all of them."""

import signal
import threading
from contextlib import AbstractContextManager

from rich.console import Console

from backfill_platform.cli.environment import enter_project
from backfill_platform.domain.errors import EngineUnavailable, SettingsInvalid
from backfill_platform.lakehouse.jars import jar_paths
from backfill_platform.lakehouse.processes import (
    Service,
    is_listening,
    running,
    wait_until_listening,
)
from backfill_platform.lakehouse.session import session_config
from backfill_platform.orchestration.services import dagster_command
from backfill_platform.settings import PROJECT, Settings, enter_environment, load_settings

START_SECONDS = 120.0


def up() -> None:
    """Start Dagster and a warm Spark Connect server on localhost; Ctrl-C stops both."""
    settings = load_settings()
    enter_project(settings)
    enter_environment({"BACKFILL_SPARK_REMOTE": f"sc://{settings.host}:{settings.connect_port}"})
    _refuse_used_ports(settings)
    console = Console(stderr=True)
    stopped = _stop_on_signal()
    with _spark(settings) as spark, _dagster(settings) as dagster:
        with console.status("Starting Spark and Dagster ..."):
            for service in (spark, dagster):
                wait_until_listening(service, timeout_seconds=START_SECONDS)
        _greet(console, settings)
        _wait(stopped, (spark, dagster))
        console.print("Stopping ...")


def _refuse_used_ports(settings: Settings) -> None:
    for name in ("webserver_port", "connect_port"):
        port = getattr(settings, name)
        if is_listening(settings.host, port):
            raise SettingsInvalid(
                f"Port {port} is in use. Stop what listens there, or choose another one: "
                f"BACKFILL_{name.upper()}=<port> make up"
            )


def _stop_on_signal() -> threading.Event:
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    return stopped


def _spark(settings: Settings) -> AbstractContextManager[Service]:
    # Here, because it imports PySpark, and the help of all verbs reads this file.
    from backfill_platform.lakehouse.connect_server import connect_server_command

    command = connect_server_command(
        session_config(jar_paths(settings.cache_dir), driver_memory=settings.spark_driver_memory),
        master=settings.spark_master,
        host=settings.host,
        port=settings.connect_port,
    )
    log = settings.home / "logs" / "spark.log"
    return running(
        "Spark Connect", command, host=settings.host, port=settings.connect_port, log=log
    )


def _dagster(settings: Settings) -> AbstractContextManager[Service]:
    port = settings.webserver_port
    command = dagster_command(project=PROJECT, host=settings.host, port=port)
    log = settings.home / "logs" / "dagster.log"
    return running("Dagster", command, host=settings.host, port=port, log=log)


def _greet(console: Console, settings: Settings) -> None:
    url = f"http://{settings.host}:{settings.webserver_port}"
    console.print(f"Dagster   {url}/asset-groups", highlight=False)
    console.print(f"Spark     sc://{settings.host}:{settings.connect_port}", highlight=False)
    console.print(f"Data      {settings.home}", highlight=False)
    console.print("Ctrl-C stops all of it.", highlight=False)


def _wait(stopped: threading.Event, services: tuple[Service, ...]) -> None:
    while not stopped.wait(timeout=0.5):
        for service in services:
            if service.has_ended:
                raise EngineUnavailable(f"{service.name} has ended; {service.log} says why")
