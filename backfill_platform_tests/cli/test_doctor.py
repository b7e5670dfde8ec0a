"""The doctor names what is wrong and what repairs it, and says so by its exit code."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from backfill_platform.cli import checks, main
from backfill_platform.cli.checks import Finding, examine
from backfill_platform.domain.errors import SetupIncomplete
from backfill_platform.ledger.migrate import migrate
from backfill_platform.settings import Settings, load_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(home=tmp_path / "var", cache_dir=tmp_path / "cache")


@pytest.fixture
def used_port() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_refusal_becomes_a_finding_with_its_remedy(settings: Settings) -> None:
    (finding,) = examine(settings, {"Jars": checks.check_jars})

    assert not finding.is_well
    assert finding.found.endswith("Run `make setup`.")


def test_a_surprise_is_a_finding_too(settings: Settings) -> None:
    def surprise(settings: Settings) -> str:
        raise ValueError("odd\nand long")

    assert list(examine(settings, {"It": surprise})) == [
        Finding(subject="It", is_well=False, found="ValueError: odd. Run `make clean setup`.")
    ]


def test_a_used_port_is_named_with_the_variable_that_moves_it(
    settings: Settings, used_port: int
) -> None:
    ports = {"connect_port": used_port, "webserver_port": free_port()}

    with pytest.raises(SetupIncomplete, match=rf"{used_port} \(connect_port\).*BACKFILL_CONNECT"):
        checks.check_ports(settings.model_copy(update=ports))


def test_a_ledger_that_is_not_there_is_to_be_migrated(settings: Settings) -> None:
    with pytest.raises(SetupIncomplete, match="revision none"):
        checks.check_ledger(settings)


def test_a_migrated_ledger_is_well(settings: Settings) -> None:
    migrate(settings.ledger_url)

    assert checks.check_ledger(settings).startswith("at revision")


def test_a_full_disk_is_wrong(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "FREE_GIGABYTES", 10**9)

    with pytest.raises(SetupIncomplete, match="BACKFILL_HOME"):
        checks.check_disk(settings)


def test_looking_creates_nothing(settings: Settings) -> None:
    looks = {name: check for name, check in checks.CHECKS.items() if name != "Delta round trip"}

    list(examine(settings, looks))

    assert not settings.home.exists()


def test_the_exit_code_and_the_json_tell_what_is_wrong(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BACKFILL_CACHE_DIR", str(settings.cache_dir))

    answer = CliRunner().invoke(main.app, ["doctor", "--json"])

    wrong = [finding["subject"] for finding in json.loads(answer.stdout) if not finding["is_well"]]
    assert answer.exit_code == 1
    assert {"Jars", "Delta round trip"} <= set(wrong)


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]
