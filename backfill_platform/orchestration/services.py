"""Dagster's own processes: the webserver and the daemon, over one shared code location."""

import sys
from pathlib import Path


def dagster_command(*, project: Path, host: str, port: int) -> list[str]:
    return [
        *(sys.executable, "-m", "dagster", "dev"),
        *("--workspace", str(project / "workspace.yaml")),
        *("--host", host, "--port", str(port)),
        *("--log-level", "warning"),
    ]
