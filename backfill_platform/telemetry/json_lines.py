"""Writes the journal: one JSON object on a line, into a file that many processes share.

The file is opened for each line, so that it can be moved away or removed at any time, and a line is
written in one piece. The same is said to Python's logging, where Dagster picks it up and shows it
with the run. A journal that cannot be written stops nothing.
"""

import json
import logging
from dataclasses import asdict
from pathlib import Path

from backfill_platform.domain.journal import Journal, JournalLine, Level
from backfill_platform.domain.plain import to_plain

LOGGER = "backfill_platform"  # as `managed_python_loggers` in dagster.yaml names it

_LEVELS = {
    Level.INFO: logging.INFO,
    Level.WARNING: logging.WARNING,
    Level.ERROR: logging.ERROR,
}


def make_journal(path: Path, least: Level) -> Journal:
    logger = _make_logger()

    def write(line: JournalLine) -> None:
        if line.level.is_below(least):
            return
        logger.log(_LEVELS[line.level], as_sentence(line))
        try:
            _append(path, as_json(line))
        except OSError as failure:
            logger.warning("The journal %s cannot be written: %s", path, failure)

    return write


def as_json(line: JournalLine) -> str:
    document = {
        "event": line.event,
        "at": to_plain(line.at),
        "level": line.level.value,
        **asdict(line.subject),
        **line.figures,
    }
    return json.dumps(document, ensure_ascii=False)


def as_sentence(line: JournalLine) -> str:
    """For people: what is not known, or is the same as in the line's own run, is left out."""
    named = asdict(line.subject) | dict(line.figures)
    said = " ".join(f"{name}={value}" for name, value in named.items() if value is not None)
    return f"{line.event} {said}".rstrip()


def _make_logger() -> logging.Logger:
    """What nobody else listens to is not printed: without a handler Python would."""
    logger = logging.getLogger(LOGGER)
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    logger.setLevel(logging.INFO)
    return logger


def _append(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as file:
        file.write(f"{text}\n".encode())
