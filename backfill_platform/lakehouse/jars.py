"""The jars that Spark is started with: exactly those of `jars.lock`, byte by byte.

Set-up fetches them once into the cache (`fetch_jars`); every start only looks (`jar_paths`). A jar
enters the cache after its checksum is right and under its final name at once, so there is never a
half file. Where jars come from is Spark's business: see `resolve`.
"""

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from backfill_platform.domain.errors import SetupIncomplete
from backfill_platform.lakehouse.files import write_atomically
from backfill_platform.lakehouse.resolve import resolve_with_spark

LOCK = Path(__file__).with_name("jars.lock")


@dataclass(frozen=True, slots=True, kw_only=True)
class Jar:
    coordinate: str  # group:artifact:version
    sha256: str

    @property
    def file_name(self) -> str:
        group, artifact, version = self.coordinate.split(":")
        return f"{group}_{artifact}-{version}.jar"


# Given the coordinates and an empty folder: puts each jar below it, under its `file_name`.
Resolve = Callable[[tuple[str, ...], Path], None]


def locked_jars(lock: Path = LOCK) -> tuple[Jar, ...]:
    lines = (line.partition("#")[0].split() for line in lock.read_text().splitlines())
    return tuple(Jar(coordinate=line[0], sha256=line[1]) for line in lines if line)


def jar_paths(cache: Path, *, jars: tuple[Jar, ...] | None = None) -> tuple[Path, ...]:
    """Where the jars are, or a refusal that names those that are missing or damaged."""
    wanted = locked_jars() if jars is None else jars
    if wrong := [jar.coordinate for jar in wanted if not _is_right(cache, jar)]:
        raise SetupIncomplete(
            f"Jars are missing or damaged in {_folder(cache)}: {', '.join(wrong)}. "
            "Run `make setup`."
        )
    return tuple(_folder(cache) / jar.file_name for jar in wanted)


def fetch_jars(
    cache: Path, *, jars: tuple[Jar, ...] | None = None, resolve: Resolve = resolve_with_spark
) -> tuple[Path, ...]:
    """Bring what is missing or damaged; asks nothing of the network when all is there."""
    wanted = locked_jars() if jars is None else jars
    missing = tuple(jar for jar in wanted if not _is_right(cache, jar))
    if missing:
        with tempfile.TemporaryDirectory(prefix="backfill-jars-") as scratch:
            resolve(tuple(jar.coordinate for jar in missing), Path(scratch))
            for jar in missing:
                _admit(jar, found=_find(jar, Path(scratch)), cache=cache)
    return jar_paths(cache, jars=wanted)


def _admit(jar: Jar, *, found: Path, cache: Path) -> None:
    content = found.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != jar.sha256:
        raise SetupIncomplete(
            f"{jar.coordinate} arrived with SHA-256 {digest}, but jars.lock says {jar.sha256}; "
            "nothing of it was kept. Ask who serves your artifacts before you trust the other one."
        )
    write_atomically(_folder(cache) / jar.file_name, content)


def _find(jar: Jar, scratch: Path) -> Path:
    for path in scratch.rglob(jar.file_name):
        return path
    raise SetupIncomplete(
        f"{jar.coordinate} could not be resolved. Check the network, or the mirror that Spark's "
        "resolver is configured with, and run `make setup` again."
    )


def _is_right(cache: Path, jar: Jar) -> bool:
    path = _folder(cache) / jar.file_name
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == jar.sha256


def _folder(cache: Path) -> Path:
    return cache / "jars"
