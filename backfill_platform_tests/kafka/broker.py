"""A real Kafka broker for tests: one process, on localhost, with its data in a folder of its own.

Its jars are fetched once into the project's cache, as Spark's are, and checked against `jars.lock`.
It creates no topic by itself, and keeps what is told whatever time stands in it.
"""

import base64
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from backfill_platform.domain.announcements import Broker
from backfill_platform.lakehouse.jars import fetch_jars, locked_jars
from backfill_platform.lakehouse.java import find_java, provide_java_home
from backfill_platform.lakehouse.processes import running, wait_until_listening
from backfill_platform.settings import load_settings

LOCK = Path(__file__).with_name("jars.lock")
HOST = "127.0.0.1"
UP_WITHIN_SECONDS = 60
SMALL = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


@contextmanager
def running_broker(folder: Path) -> Iterator[Broker]:
    java, port, controller = _java(), _free_port(), _free_port()
    settings = _write_settings(folder, port=port, controller=controller)
    _run(*java, "kafka.tools.StorageTool", "format", "-t", _cluster_id(), "-c", settings)
    command = [*java, "kafka.Kafka", str(settings)]
    with running("Kafka", command, host=HOST, port=port, log=folder / "broker.log") as service:
        wait_until_listening(service, timeout_seconds=UP_WITHIN_SECONDS)
        yield Broker(servers=f"{HOST}:{port}")


def _java() -> list[str]:
    settings = load_settings()
    java = find_java(java_home=settings.java_home, search_path=settings.search_path)
    home = provide_java_home(java, settings.cache_dir)
    scala = Path(pyspark.__file__).parent.glob("jars/scala-library-*.jar")
    jars = [*fetch_jars(settings.cache_dir, jars=locked_jars(LOCK)), *scala]
    return [str(home / "bin" / "java"), *SMALL, "-cp", ":".join(str(jar) for jar in jars)]


def _write_settings(folder: Path, *, port: int, controller: int) -> Path:
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{HOST}:{controller}",
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(folder / "data"),
        "auto.create.topics.enable": "false",
        "log.retention.ms": "-1",
        "group.initial.rebalance.delay.ms": "0",
        **{
            f"{kind}.replication.factor": "1"
            for kind in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")
        },
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
        "offsets.topic.num.partitions": "1",
    }
    path = folder / "server.properties"
    path.write_text("\n".join(f"{name}={value}" for name, value in settings.items()))
    return path


def _cluster_id() -> str:
    return base64.urlsafe_b64encode(b"backfill-tests!!").decode().rstrip("=")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        return int(found.getsockname()[1])


def _run(*command: str | Path) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stdout}{done.stderr}")
