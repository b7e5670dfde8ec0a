"""Jars enter the cache whole and right, or not at all."""

import hashlib
from pathlib import Path

import pytest

from backfill_platform.domain.errors import SetupIncomplete
from backfill_platform.lakehouse.jars import Jar, fetch_jars, jar_paths, locked_jars

CONTENT = b"the jar"
JAR = Jar(coordinate="org.example:thing:1.0", sha256=hashlib.sha256(CONTENT).hexdigest())


class FakeResolver:
    """Puts the same bytes under every name, where Spark's resolver would put jars."""

    def __init__(self, content: bytes = CONTENT) -> None:
        self.content = content
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, coordinates: tuple[str, ...], folder: Path) -> None:
        self.asked.append(coordinates)
        (folder / "jars").mkdir()
        (folder / "jars" / "org.example_thing-1.0.jar").write_bytes(self.content)


def test_a_fetched_jar_is_found_at_the_next_start(tmp_path: Path) -> None:
    fetch_jars(tmp_path, jars=(JAR,), resolve=FakeResolver())

    assert [path.read_bytes() for path in jar_paths(tmp_path, jars=(JAR,))] == [CONTENT]


def test_nothing_is_resolved_when_all_jars_are_there(tmp_path: Path) -> None:
    fetch_jars(tmp_path, jars=(JAR,), resolve=FakeResolver())
    resolver = FakeResolver()

    fetch_jars(tmp_path, jars=(JAR,), resolve=resolver)

    assert resolver.asked == []


def test_a_jar_with_another_checksum_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    with pytest.raises(SetupIncomplete, match=r"org\.example:thing:1\.0 arrived with SHA-256"):
        fetch_jars(tmp_path, jars=(JAR,), resolve=FakeResolver(b"something else"))

    assert list(tmp_path.rglob("*")) == []


def test_a_damaged_jar_is_named_with_the_remedy(tmp_path: Path) -> None:
    (path,) = fetch_jars(tmp_path, jars=(JAR,), resolve=FakeResolver())
    path.write_bytes(CONTENT[:3])

    with pytest.raises(SetupIncomplete, match=r"org\.example:thing:1\.0.*`make setup`"):
        jar_paths(tmp_path, jars=(JAR,))


def test_a_damaged_jar_is_fetched_again(tmp_path: Path) -> None:
    (path,) = fetch_jars(tmp_path, jars=(JAR,), resolve=FakeResolver())
    path.write_bytes(CONTENT[:3])

    fetch_jars(tmp_path, jars=(JAR,), resolve=FakeResolver())

    assert path.read_bytes() == CONTENT


def test_a_resolver_that_brings_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupIncomplete, match="could not be resolved"):
        fetch_jars(tmp_path, jars=(JAR,), resolve=lambda coordinates, folder: None)


def test_the_lock_names_versions_and_checksums_and_no_address() -> None:
    jars = locked_jars()

    assert [jar.coordinate for jar in jars] == [
        "io.delta:delta-spark_4.2_2.13:4.4.0",
        "io.delta:delta-storage:4.4.0",
    ]
    assert {len(bytes.fromhex(jar.sha256)) for jar in jars} == {32}
