"""A warm Spark for every run: the Spark Connect server that pyspark brings, on localhost only.

Starting Spark takes longer than most chunks. The server pays for it once; a new run's process then
answers its first Delta query in about a second.
"""

import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyspark

from backfill_platform.domain.errors import EngineUnavailable

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


def connect_server_command(
    config: Mapping[str, str], *, master: str, driver_memory: str, host: str, port: int
) -> list[str]:
    settings = {
        **config,
        "spark.connect.grpc.binding.address": host,
        "spark.connect.grpc.binding.port": str(port),
    }
    spark_submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    return [
        str(spark_submit),
        *("--master", master, "--driver-memory", driver_memory, "--class", SERVER),
        *(part for name, value in settings.items() for part in ("--conf", f"{name}={value}")),
        "spark-internal",
    ]


def start_server(
    command: Sequence[str], *, environment: Mapping[str, str], log: Path
) -> "subprocess.Popen[bytes]":
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        return subprocess.Popen(
            list(command),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C goes to us; we stop it in order
        )


def wait_until_listening(
    server: "subprocess.Popen[bytes]", *, host: str, port: int, timeout_seconds: float, log: Path
) -> None:
    deadline = time.monotonic() + timeout_seconds
    while not is_listening(host, port):
        if server.poll() is not None or time.monotonic() > deadline:
            raise EngineUnavailable(
                f"The Spark Connect server did not come up on {host}:{port}; {log} says why"
            )
        time.sleep(0.2)


def is_listening(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False
