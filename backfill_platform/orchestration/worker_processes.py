"""Names the process of a worker so that no other is ever taken for it, interrupts it and waits for
its end. Only Linux tells of a process what this takes.

The number of a process that has ended is given to another. Its name here has the moment of its
start beside the number, and that of the machine; and a handle stays with the process that it was
taken of, so nothing can come between looking and acting.
"""

import os
import select
import signal
from pathlib import Path

IS_SUPPORTED = hasattr(os, "pidfd_open")

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_STARTED = 19  # of the words behind the command, which may itself have spaces and parentheses


def name_process(pid: int) -> str:
    """Raises `OSError` where there is none."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return f"{_BOOT.read_text().strip()}:{pid}:{words[_STARTED]}"


def take_handle(name: str) -> int | None:
    """Nothing, where the process has ended, whoever has its number now."""
    pid = int(name.split(":")[1])
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return None
    if _is_named(pid, name):
        return handle
    os.close(handle)
    return None


def wait_for_end(handle: int) -> None:
    """Gives the handle back."""
    ended = select.poll()
    ended.register(handle, select.POLLIN)
    ended.poll()
    os.close(handle)


def interrupt(name: str) -> bool:
    """Whether there was something to interrupt."""
    handle = take_handle(name)
    if handle is None:
        return False
    try:
        signal.pidfd_send_signal(handle, signal.SIGINT)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True


def _is_named(pid: int, name: str) -> bool:
    try:
        return name_process(pid) == name
    except OSError:
        return False
