"""Removes files below a root, and nothing anywhere else: no step on the way may be a link.

Removing twice equals removing once. Which files go is decided by whoever calls.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from backfill_platform.domain.errors import EngineUnavailable

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_GONE = (FileNotFoundError, NotADirectoryError)


def remove_files(root: Path, paths: Iterable[str]) -> None:
    """Each with the checksum that Spark leaves beside it. `paths` are relative to the root."""
    for path in paths:
        _remove_file(root, PurePosixPath(path))


def remove_empty_folders(root: Path, below: str) -> None:
    """That folder and all in it, as far as they hold nothing."""
    folder = root / below
    on_the_way = (one for one in (folder, *folder.parents) if root in one.parents)
    if any(one.is_symlink() for one in on_the_way):
        return
    for found, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):  # it holds something, or somebody else was quicker
            os.rmdir(found)


def still_there(root: Path, paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(path for path in paths if os.path.lexists(root / path)))


def _remove_file(root: Path, path: PurePosixPath) -> None:
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{path} does not lie below {root}")
    try:
        with _opened(root, path.parts[:-1]) as folder:
            for name in (path.name, f".{path.name}.crc"):
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=folder)
    except _GONE:
        return
    except OSError as failure:
        raise EngineUnavailable(
            f"{root / path} could not be removed ({failure.strerror}); "
            "look at its folder's rights, and call the same again"
        ) from failure


@contextmanager
def _opened(root: Path, parts: tuple[str, ...]) -> Iterator[int]:
    """The folder, reached step by step: a path that was looked at before could lead elsewhere."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts:
            following = os.open(part, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = following
        yield descriptor
    finally:
        os.close(descriptor)
