"""The evidence of one run: a folder with its manifest and an append-only file of chained records.

    <root>/<run_id>/manifest.json
    <root>/<run_id>/records.jsonl

Knows files and locks; what is evidence of what is decided by whoever appends.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from backfill_platform.domain.errors import EvidenceBroken, ManifestDrifted
from backfill_platform.domain.identity import RunId, is_run_id
from backfill_platform.evidence.chain import (
    EvidenceRecord,
    first_broken_line,
    follow,
    read_line,
    write_line,
)


class EvidenceBundle:
    def __init__(self, root: Path, run_id: RunId) -> None:
        if not is_run_id(run_id):
            raise ValueError(f"{run_id!r} is no run id, so no folder is named after it")
        self.run_id = run_id
        self.folder = root / run_id
        self.records_path = self.folder / "records.jsonl"
        self.manifest_path = self.folder / "manifest.json"

    def append(
        self, *, kind: str, key: str, at: datetime, body: Mapping[str, Any]
    ) -> EvidenceRecord:
        """The record, on disk when this returns. A key that is known keeps its first record."""
        with self._locked_records() as file:
            lines = _mend(file, self.run_id)
            records = _read_records(lines, self.run_id)
            known = next((record for record in records if record.key == key), None)
            if known is not None:
                return known
            last = records[-1] if records else None
            record = follow(last, key=key, kind=kind, at=at, body=body)
            _write_durably(file, f"{write_line(record)}\n".encode())
            return record

    def records(self) -> tuple[EvidenceRecord, ...]:
        return _read_records(self._complete_lines(), self.run_id)

    def verify(self) -> int | None:
        """The number of the first broken line; nothing when the chain holds."""
        return first_broken_line(self._complete_lines())

    def write_manifest(self, manifest_json: str) -> None:
        """Once: the file appears whole or not at all, and another content is refused."""
        self._make_folder()
        with tempfile.NamedTemporaryFile(dir=self.folder, prefix=".manifest-") as draft:
            os.fchmod(draft.fileno(), 0o644)  # a temporary file is readable by its owner only
            _write_durably(draft, manifest_json.encode())
            try:
                os.link(draft.name, self.manifest_path)
            except FileExistsError:
                self._refuse_other_manifest(manifest_json)
        _sync_folder(self.folder)

    def _refuse_other_manifest(self, manifest_json: str) -> None:
        if self.manifest_path.read_bytes() != manifest_json.encode():
            raise ManifestDrifted(self.run_id, (f"the manifest kept in {self.manifest_path}",))

    def _complete_lines(self) -> list[str]:
        """Without what a writer that is at work, or has died, has not finished."""
        if not self.records_path.exists():
            return []
        complete, _, _ = self.records_path.read_bytes().rpartition(b"\n")
        return _decode(complete)

    @contextmanager
    def _locked_records(self) -> Iterator[BinaryIO]:
        """One writer at a time, on this machine; a writer that dies frees the lock."""
        self._make_folder()
        with self.records_path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file

    def _make_folder(self) -> None:
        if not self.folder.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            _sync_folder(self.folder.parent)


def _mend(file: BinaryIO, run_id: RunId) -> list[str]:
    """Cuts off what a crash left of a record that was never acknowledged.

    A last line that only lacks its end may have been acknowledged and damaged later, so that one
    is completed and not cut.
    """
    file.seek(0)
    complete, newline, rest = file.read().rpartition(b"\n")
    lines = _decode(complete)
    if rest and first_broken_line([*lines, *_decode(rest)]) is None:
        _write_durably(file, b"\n")
        return [*lines, *_decode(rest)]
    if rest:
        file.truncate(len(complete) + len(newline))
        os.fsync(file.fileno())
    return lines


def _read_records(lines: list[str], run_id: RunId) -> tuple[EvidenceRecord, ...]:
    """Nothing is added to a chain that does not hold: it would cover up where it broke."""
    broken = first_broken_line(lines)
    if broken is not None:
        raise EvidenceBroken(
            f"The evidence of run {run_id} is broken at line {broken}: it was changed after it was "
            "written. Keep the folder as it is, and compare it with a copy."
        )
    return tuple(record for line in lines if (record := read_line(line)) is not None)


def _decode(text: bytes) -> list[str]:
    """Only a newline ends a record; other line separators may stand inside a text."""
    return text.decode(errors="replace").split("\n") if text else []


def _write_durably(file: Any, content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """A new file's name is on disk only when its folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
