"""What the environment may say, and how children inherit it."""

from pathlib import Path

import pytest

from backfill_platform.domain.errors import SettingsInvalid
from backfill_platform.settings import PROJECT, child_environment, load_settings, read_secret


@pytest.fixture(autouse=True)
def _only_this_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "HOME",
        "LEDGER_URL",
        "WAREHOUSE",
        "CONNECT_PORT",
        "SPARK_REMOTE",
        "KAFKA_SERVERS",
    ):
        monkeypatch.delenv(f"BACKFILL_{name}", raising=False)


def test_data_lies_below_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    settings = load_settings()

    assert settings.home == tmp_path / "var"
    assert settings.warehouse == tmp_path / "var" / "warehouse"
    assert settings.ledger_url == f"sqlite:///{tmp_path}/var/ledger.db"


def test_what_set_up_fetched_lies_below_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert load_settings().cache_dir == PROJECT / ".cache"


def test_everything_follows_home_but_what_is_named_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BACKFILL_HOME", str(tmp_path / "a"))
    monkeypatch.setenv("BACKFILL_WAREHOUSE", str(tmp_path / "b"))

    settings = load_settings()

    assert (settings.warehouse, settings.landing) == (tmp_path / "b", tmp_path / "a" / "landing")


def test_an_empty_variable_is_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKFILL_LEDGER_URL", "")

    assert load_settings().ledger_url.startswith("sqlite:///")


def test_a_bad_value_is_one_sentence_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BACKFILL_CONNECT_PORT", "many")

    with pytest.raises(SettingsInvalid, match=r"BACKFILL_CONNECT_PORT='many': .* integer"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("host", "0.0.0.0"),
        ("catalog", "no-attribute"),
        ("spark_remote", "http://somewhere"),
        ("spark_driver_memory", "much"),
        ("connect_port", 3000),
    ],
)
def test_the_impossible_is_refused(name: str, value: object) -> None:
    with pytest.raises(SettingsInvalid):
        load_settings(**{name: value})


def test_a_child_reads_the_same_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(home=tmp_path, spark_remote="sc://127.0.0.1:15002", connect_port=4000)
    for name, value in child_environment(settings, java_home=tmp_path, spark_home=tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir("/")

    child = load_settings()

    assert child.model_dump(exclude={"java_home"}) == settings.model_dump(exclude={"java_home"})


def test_a_child_gets_the_java_that_was_found(tmp_path: Path) -> None:
    environment = child_environment(
        load_settings(home=tmp_path), java_home=tmp_path / "java", spark_home=tmp_path / "spark"
    )

    assert environment["JAVA_HOME"] == str(tmp_path / "java")
    assert environment["TZ"] == "UTC"


def test_a_password_is_neither_shown_nor_written_down_for_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BACKFILL_KAFKA_PASSWORD", "hunter2")

    settings = load_settings()
    handed_on = child_environment(settings, java_home=tmp_path, spark_home=tmp_path)

    assert settings.kafka_password.get_secret_value() == "hunter2"
    assert "hunter2" not in f"{settings!r} {handed_on}"


def test_a_secret_is_read_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKFILL_ALERT_TOKEN", "hunter2")

    assert read_secret("BACKFILL_ALERT_TOKEN") == "hunter2"


@pytest.mark.parametrize("name", ["BACKFILL_ALERT_TOKEN", "HOME"])
def test_a_secret_that_is_not_set_or_not_ours_is_refused(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BACKFILL_ALERT_TOKEN", raising=False)

    with pytest.raises(SettingsInvalid, match=f"{name} is not set where this runs"):
        read_secret(name)
