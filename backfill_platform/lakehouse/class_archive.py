"""Spark's classes, prepared once for the Java of this machine: a start maps them then, where Java
otherwise reads, checks and links some fifteen thousand.

An archive is named by all that it was made from. Where there is none, as after an update of Java,
everything works as it does without, and set-up makes another (docs/adr/0019).
"""

import hashlib
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from backfill_platform.domain.errors import SetupIncomplete
from backfill_platform.lakehouse.submitting import spark_home, submit_command

_LONGEST_SECONDS = 300
_OPTIONS = "spark.driver.extraJavaOptions"


def class_archive(java: Path, folder: Path) -> Path:
    """Where the one for this Java and this Spark is, if there is one."""
    jars = sorted((spark_home() / "jars").glob("*.jar"))
    made_from = "\n".join(_seen(path) for path in (java, *jars))
    return folder / f"spark-{hashlib.sha256(made_from.encode()).hexdigest()[:16]}.jsa"


def keeps_classes(java: Path) -> bool:
    """An archive builds on that of Java's own classes, and the wheel's runtime has none."""
    asked = [str(java), "-Xshare:on", "-version"]
    try:
        return subprocess.run(asked, capture_output=True, timeout=30, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def make_class_archive(archive: Path, config: Mapping[str, str]) -> None:
    """By an exercise of Spark. What was there before stays until the new one is whole."""
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".exercise-") as scratch:
        made = Path(scratch) / archive.name
        given = {**config, _OPTIONS: f'{config[_OPTIONS]} "-XX:ArchiveClassesAtExit={made}"'}
        command = submit_command("class_exercise.py", scratch, config=given, master="local[2]")
        said = _run(command)
        if not made.is_file():
            raise SetupIncomplete(f"Spark's classes could not be prepared: {said}")
        made.replace(archive)
        for former in {*archive.parent.glob("*.jsa")} - {archive}:
            former.unlink(missing_ok=True)


def _run(command: list[str]) -> str:
    """Its last line, for people."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_LONGEST_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        return str(failure)
    lines = f"{done.stdout}\n{done.stderr}".split("\n")
    return next((line for line in reversed(lines) if line.strip()), "it said nothing")


def _seen(path: Path) -> str:
    """As Java recognises a file."""
    found = path.stat()
    return f"{path} {found.st_size} {found.st_mtime_ns}"
