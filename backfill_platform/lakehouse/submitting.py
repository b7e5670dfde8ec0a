"""Has Spark run a script of this package, in a JVM that is the process to watch and to wait for."""

import importlib.util
from collections.abc import Mapping
from pathlib import Path

from backfill_platform.domain.errors import SetupIncomplete


def spark_home() -> Path:
    """The one of this environment: another installation would load other jars. Spark itself is not
    imported for it."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise SetupIncomplete("pyspark is not installed here. Run `make setup`.")
    return Path(spec.origin).parent


def submit_command(
    script: str, *arguments: str, config: Mapping[str, str], master: str
) -> list[str]:
    return [
        str(spark_home() / "bin" / "spark-submit"),
        *("--master", master),
        *(part for name, value in config.items() for part in ("--conf", f"{name}={value}")),
        str(Path(__file__).with_name(script)),
        *arguments,
    ]
