"""Typed settings: the only reader of the environment, and the only writer of it.

Every setting is a variable `BACKFILL_<NAME>`. What is not given is derived from `home`: the data,
`var` below the current directory. `cache_dir` holds what set-up fetched, `.cache` of the project.
Child processes get the same answers: `child_environment` spells all of them out as absolute paths.
Finding Java, opening the ledger or starting Spark does not belong here.
"""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from backfill_platform.domain.errors import SettingsInvalid
from backfill_platform.domain.journal import Level

PREFIX = "BACKFILL_"
PROJECT = Path(__file__).resolve().parent.parent
_OF_THIS_PROCESS = {
    *("java_home", "search_path", "kafka_password"),
    *("lineage_url", "lineage_api_key", "lineage_namespace"),
}

Folder = Annotated[Path, AfterValidator(lambda path: path.expanduser().resolve())]
Port = Annotated[int, Field(ge=1, le=65535)]


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, env_ignore_empty=True, validate_default=True
    )

    home: Folder = Path("var")
    cache_dir: Folder = PROJECT / ".cache"
    ledger_url: str = ""
    warehouse: Folder = Path()
    landing: Folder = Path()
    evidence: Folder = Path()
    dagster_storage: Folder = Path()

    # Who may approve what, and whose keys sign it: both are reviewed files.
    governance: Folder = PROJECT / "governance.yaml"
    allowed_signers: Folder = PROJECT / "allowed_signers"

    # Who hears of what goes wrong: a reviewed file, too.
    alerts: Folder = PROJECT / "alerts.yaml"
    # What the engine does, line by line, and from which level on.
    log_file: Folder = Path()
    log_level: Level = Level.INFO

    # Where lineage is told: a service, or else a file.
    lineage_file: Folder = Path()
    lineage_url: str = Field(
        "", pattern=r"^(https?://.+)?$", validation_alias="OPENLINEAGE_URL", repr=False
    )
    lineage_api_key: SecretStr = Field(SecretStr(""), validation_alias="OPENLINEAGE_API_KEY")
    lineage_namespace: str = Field("backfill", validation_alias="OPENLINEAGE_NAMESPACE")

    container_image: str = Field("", pattern=r"^[\w./:@-]*$")  # as deployed; manifests pin it

    catalog: str = Field("backfill_platform.enforcement.catalog:CATALOG", pattern=r"^[\w.]+:\w+$")

    spark_remote: str = Field("", pattern=r"^(sc://.+)?$")
    spark_master: str = "local[*]"
    spark_driver_memory: str = Field("2g", pattern=r"^\d+[kmgKMG]$")

    # Where tables tell their publications, if any declares a topic.
    kafka_servers: str = Field("", pattern=r"^([\w.-]+:\d+(,[\w.-]+:\d+)*)?$")
    kafka_username: str = ""
    kafka_password: SecretStr = SecretStr("")

    # The request header in which a proxy before the webserver says who is signed in.
    identity_header: str = Field("", pattern=r"^[A-Za-z0-9-]*$")

    # Nothing listens beyond this machine: neither Dagster nor Spark Connect knows users.
    host: Literal["127.0.0.1"] = "127.0.0.1"
    webserver_port: Port = 3000
    connect_port: Port = 15002

    # Facts of the machine, under the names that it gives them.
    java_home: str = Field("", validation_alias="JAVA_HOME", repr=False)
    search_path: str = Field("", validation_alias="PATH", repr=False)

    @model_validator(mode="before")
    @classmethod
    def _derive_from_home(cls, given: dict[str, Any]) -> dict[str, Any]:
        home = Path(given.get("home") or "var").expanduser().resolve()
        derived = {name: home / name for name in ("warehouse", "landing", "evidence")}
        derived |= {"dagster_storage": home / "dagster", "ledger_url": _sqlite(home / "ledger.db")}
        derived |= {"log_file": home / "logs" / "backfill.jsonl"}
        derived |= {"lineage_file": home / "lineage" / "openlineage.jsonl"}
        return derived | {name: value for name, value in given.items() if value != ""}

    @model_validator(mode="after")
    def _ports_differ(self) -> Self:
        if self.webserver_port == self.connect_port:
            raise ValueError(f"webserver_port and connect_port are both {self.connect_port}")
        return self


def load_settings(**overrides: Any) -> Settings:
    """The settings of this process; what is passed in wins over the environment."""
    try:
        return Settings(**overrides)
    except ValidationError as invalid:
        raise SettingsInvalid(_sentence(invalid)) from invalid


def read_secret(name: str) -> str:
    """What a reviewed file names instead of writing it down. It is asked for when it is needed, so
    whoever never sends anything needs none."""
    secret = os.environ.get(name, "") if name.startswith(PREFIX) else ""
    if not secret:
        raise SettingsInvalid(
            f"{name} is not set where this runs, and alerts.yaml names it; set it there, or remove "
            "what needs it"
        )
    return secret


def child_environment(settings: Settings, *, java_home: Path, spark_home: Path) -> dict[str, str]:
    """What a child process must see, so that it works on the same data with the same Java. A secret
    is not written down again: it reaches a child as it reached us."""
    own = {
        f"{PREFIX}{name.upper()}": str(value)
        for name, value in settings.model_dump(exclude=_OF_THIS_PROCESS).items()
        if value != ""
    }
    return own | {
        **dagster_environment(settings),
        "JAVA_HOME": str(java_home),
        "SPARK_HOME": str(spark_home),
        "SPARK_LOCAL_IP": settings.host,
        "PYSPARK_PYTHON": sys.executable,
        "TZ": "UTC",
    }


def dagster_environment(settings: Settings) -> dict[str, str]:
    """All that Dagster alone needs, for whoever only tells it something: no Java and no Spark."""
    return {
        "DAGSTER_HOME": str(PROJECT),
        "DAGSTER_EVENT_BATCH_SIZE": "1000",  # what a step tells of its days is stored together
        f"{PREFIX}DAGSTER_STORAGE": str(settings.dagster_storage),
    }


def enter_environment(environment: Mapping[str, str]) -> None:
    """Make this process one of those children: pyspark hands its own environment on to the JVM."""
    os.environ.update(environment)
    time.tzset()


def _sqlite(path: Path) -> str:
    return f"sqlite:///{path}"


def _sentence(invalid: ValidationError) -> str:
    problems = "; ".join(
        _problem(error["loc"], error["msg"], error["input"]) for error in invalid.errors()
    )
    return f"The settings are not usable: {problems}. Correct or unset what is named here."


def _problem(location: tuple[int | str, ...], message: str, given: Any) -> str:
    if not location:
        return message.removeprefix("Value error, ")
    return f"{PREFIX}{str(location[0]).upper()}={given!r}: {message}"
