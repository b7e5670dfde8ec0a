"""`metrics`: printed, written, and refused where both a file and a port are asked for."""

from pathlib import Path

from backfill_platform.domain.manifests import Manifest
from backfill_platform_tests.cli.conftest import Call


def test_metrics_are_printed_as_prometheus_reads_them(call: Call, planned: Manifest) -> None:
    answer = call("metrics")
    runs = 'backfill_runs{kind="BACKFILL",state="PLANNED",table="bronze.readings"} 1.0'
    assert (answer.exit_code, runs in answer.stdout.splitlines()) == (0, True)


def test_metrics_are_written_where_a_file_is_named(
    call: Call, planned: Manifest, tmp_path: Path
) -> None:
    file = tmp_path / "node-exporter" / "backfill.prom"
    answer = call("metrics", "--file", str(file))
    assert (answer.exit_code, answer.stdout) == (0, "")
    assert "backfill_runs{" in file.read_text()


def test_a_file_and_a_port_are_too_much(call: Call, tmp_path: Path) -> None:
    answer = call("metrics", "--file", str(tmp_path / "a.prom"), "--listen", "9000")
    assert (answer.exit_code, "choose one" in answer.stderr) == (2, True)
