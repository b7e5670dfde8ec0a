"""What `doctor` looks at. A check returns what it found, or refuses with what repairs it.

Checks look and change nothing; only the round trip writes, in a folder that is thrown away.
"""

import shutil
import socket
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from backfill_platform.cli.environment import enter_project
from backfill_platform.domain.errors import BackfillError, SetupIncomplete
from backfill_platform.lakehouse.class_archive import class_archive
from backfill_platform.lakehouse.jars import jar_paths
from backfill_platform.lakehouse.java import find_java, home_of
from backfill_platform.lakehouse.session import session_config, start_local_session
from backfill_platform.settings import Settings

FREE_GIGABYTES = 2
_PYTHON = (3, 11)

Check = Callable[[Settings], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    subject: str
    is_well: bool
    found: str  # what is there, or what is wrong and how to repair it


def examine(settings: Settings, checks: dict[str, Check]) -> Iterator[Finding]:
    for subject, check in checks.items():
        yield _examine(settings, subject, check)


def _examine(settings: Settings, subject: str, check: Check) -> Finding:
    try:
        return Finding(subject=subject, is_well=True, found=check(settings))
    except BackfillError as refusal:
        return Finding(subject=subject, is_well=False, found=str(refusal))
    except Exception as surprise:  # noqa: BLE001 — a diagnosis reports what it did not foresee, too
        reason = f"{type(surprise).__name__}: {_first_line(surprise)}. Run `make clean setup`."
        return Finding(subject=subject, is_well=False, found=reason)


def check_python(settings: Settings) -> str:
    found = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info[:2] != _PYTHON:
        raise SetupIncomplete(
            f"This is Python {found}; the locks are for 3.11. "
            "Run `make clean setup PYTHON=/path/to/python3.11`."
        )
    return found


def check_java(settings: Settings) -> str:
    java = find_java(java_home=settings.java_home, search_path=settings.search_path)
    is_prepared = class_archive(java.executable, home_of(java, settings.cache_dir)).is_file()
    classes = "are prepared" if is_prepared else "are read anew at each start"
    return f"{java.major} from {java.origin}: {java.executable}; Spark's classes {classes}"


def check_jars(settings: Settings) -> str:
    paths = jar_paths(settings.cache_dir)
    return f"{len(paths)} as locked, in {settings.cache_dir / 'jars'}"


def check_disk(settings: Settings) -> str:
    place = _nearest_existing(settings.home)
    gigabytes = shutil.disk_usage(place).free / 1e9
    if gigabytes < FREE_GIGABYTES:
        raise SetupIncomplete(
            f"Only {gigabytes:.1f} GB are free at {place}, {FREE_GIGABYTES} are needed. "
            "Make room, or set BACKFILL_HOME to another disk."
        )
    return f"{gigabytes:.0f} GB free at {place}"


def check_ports(settings: Settings) -> str:
    ports = {"webserver_port": settings.webserver_port, "connect_port": settings.connect_port}
    used = {name: port for name, port in ports.items() if not _is_free(settings.host, port)}
    if not used:
        return f"{', '.join(str(port) for port in ports.values())} are free"
    if "webserver_port" in used and _is_dagster(settings.host, settings.webserver_port):
        return f"{', '.join(str(port) for port in used.values())} in use: `backfill up` is running"
    listed = ", ".join(f"{port} ({name})" for name, port in used.items())
    raise SetupIncomplete(
        f"In use by another program: {listed}. "
        f"Stop it, or set {' and '.join(f'BACKFILL_{name.upper()}' for name in used)}."
    )


def check_ledger(settings: Settings) -> str:
    from backfill_platform.ledger.migrate import current_revision, head_revision

    current, head = current_revision(settings.ledger_url), head_revision()
    if current != head:
        raise SetupIncomplete(
            f"The ledger is at revision {current or 'none'}, this version needs {head}. "
            "Run `make setup`, which migrates it."
        )
    return f"at revision {head}"


def check_round_trip(settings: Settings) -> str:
    from backfill_platform.lakehouse.round_trip import prove_round_trip

    jars = jar_paths(settings.cache_dir)
    enter_project(settings)
    with tempfile.TemporaryDirectory(prefix="backfill-doctor-") as folder:
        config = session_config(jars, cores=2, warehouse=Path(folder), short_lived=True)
        spark = start_local_session(config, master="local[2]", name="doctor")
        try:
            prove_round_trip(spark, Path(folder))
        finally:
            spark.stop()
    return "Spark and delta-rs read each other's tables"


CHECKS: dict[str, Check] = {
    "Python": check_python,
    "Java": check_java,
    "Jars": check_jars,
    "Disk": check_disk,
    "Ports": check_ports,
    "Ledger schema": check_ledger,
    "Delta round trip": check_round_trip,
}


def _nearest_existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())


def _is_free(host: str, port: int) -> bool:
    with socket.socket() as candidate:
        # A server that has just stopped leaves its port in TIME_WAIT; servers start over that.
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind((host, port))
        except OSError:
            return False
    return True


def _is_dagster(host: str, port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://{host}:{port}/server_info", timeout=2) as answer:
            return b"dagster_webserver_version" in answer.read()
    except (urllib.error.URLError, OSError, ValueError):
        return False


def _first_line(surprise: Exception) -> str:
    return (str(surprise).strip().splitlines() or ["no message"])[0].rstrip(".")
