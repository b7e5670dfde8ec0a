"""Spark's classes are prepared once, and a start of Spark takes them from there."""

import subprocess
from pathlib import Path

import pytest

from backfill_platform.cli.environment import prepare_spark
from backfill_platform.domain.errors import SetupIncomplete
from backfill_platform.lakehouse.class_archive import (
    class_archive,
    keeps_classes,
    make_class_archive,
)
from backfill_platform.lakehouse.java import find_java, provide_java_home
from backfill_platform.lakehouse.session import session_config
from backfill_platform.lakehouse.submitting import spark_home
from backfill_platform.settings import load_settings

SUBMIT = "org.apache.spark.deploy.SparkSubmit"


def a_java(folder: Path, script: str) -> Path:
    executable = folder / "java"
    executable.write_text(f"#!/bin/sh\n{script}\n")
    executable.chmod(0o755)
    return executable


def test_set_up_prepares_what_a_start_of_spark_then_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings()
    java = find_java(java_home=settings.java_home, search_path=settings.search_path)
    monkeypatch.setenv("JAVA_HOME", str(provide_java_home(java, settings.cache_dir)))
    monkeypatch.setenv("SPARK_HOME", str(spark_home()))
    prepare_spark(settings)
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Xlog:class+load")

    told = subprocess.run(
        [spark_home() / "bin" / "spark-submit", "--version"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    (loaded,) = (line for line in told.stdout.splitlines() if f" {SUBMIT} source:" in line)
    assert ("shared objects file" in loaded) == keeps_classes(java.executable)
    assert "Unable to use shared archive" not in told.stdout + told.stderr


def test_another_java_or_another_spark_has_an_archive_of_its_own(tmp_path: Path) -> None:
    java = a_java(tmp_path, "exit 0")
    before = class_archive(java, tmp_path)

    a_java(tmp_path, "exit 0 # updated")

    assert class_archive(java, tmp_path) != before


def test_a_java_that_keeps_no_classes_says_so(tmp_path: Path) -> None:
    assert not keeps_classes(a_java(tmp_path, "exit 1"))
    assert not keeps_classes(tmp_path / "removed")


def test_what_was_there_stays_where_no_other_comes_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    a_java(tmp_path / "bin", "exit 1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    former = tmp_path / "former.jsa"
    former.write_bytes(b"classes")

    with pytest.raises(SetupIncomplete, match="could not be prepared"):
        make_class_archive(tmp_path / "new.jsa", session_config(()))

    assert [*tmp_path.glob("*.jsa")] == [former]
    assert not [*tmp_path.glob(".exercise-*")]
