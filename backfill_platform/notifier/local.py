"""Hands a message to this machine: a program's standard input, or a line of a file."""

import json
import subprocess
from pathlib import Path

from backfill_platform.domain.alert_channels import CommandChannel, FileChannel
from backfill_platform.domain.alerts import Notice
from backfill_platform.domain.errors import AlertUndelivered
from backfill_platform.notifier.wording import document

PATIENCE_SECONDS = 5
_LONGEST_COMPLAINT = 200


def run_command(channel: CommandChannel, notice: Notice) -> None:
    """Never through a shell: a title may hold anything."""
    program = channel.command[0]
    try:
        done = subprocess.run(
            channel.command,
            input=json.dumps(document(notice), ensure_ascii=False).encode(),
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise AlertUndelivered(
            f"{program} was ended after {PATIENCE_SECONDS} seconds; have it hand the message on "
            "and come back"
        ) from late
    except OSError as missing:
        raise AlertUndelivered(
            f"{program} could not be started ({missing.strerror}); install it, or name another"
        ) from missing
    if done.returncode != 0:
        complaint = " ".join(done.stderr.decode(errors="replace").split())[-_LONGEST_COMPLAINT:]
        raise AlertUndelivered(
            f"{program} ended with exit code {done.returncode}"
            + (f" ({complaint})" if complaint else "")
            + "; it has to end with 0 once it has the message"
        )


def append_line(channel: FileChannel, notice: Notice, *, home: Path) -> None:
    """In one write, so that two workers never mix their lines."""
    path = home / channel.path
    line = json.dumps(document(notice), ensure_ascii=False) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab", buffering=0) as file:
            file.write(line.encode())
    except OSError as failure:
        raise AlertUndelivered(
            f"{path} could not be written ({failure.strerror}); make room for it, or let this "
            "process write there"
        ) from failure
