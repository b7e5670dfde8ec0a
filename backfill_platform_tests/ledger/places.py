"""Where tests put databases: in memory where there is enough of it.

A new PostgreSQL database is 300 files, and SQLite waits for the disk with each commit; neither is
what these tests are about, and a slow or busy disk makes minutes of it.
"""

import os
import shutil
from pathlib import Path

_MEMORY = Path("/dev/shm")
_ROOMY_BYTES = 2**30


def quick_place() -> Path | None:
    """Nothing means the usual place for temporary files."""
    is_usable = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)
    return _MEMORY if is_usable and shutil.disk_usage(_MEMORY).free > _ROOMY_BYTES else None
