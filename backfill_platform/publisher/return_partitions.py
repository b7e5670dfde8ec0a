"""Returns partitions to what the target held before: no file is written, copied or read.

The files come from the target's own log, at the version that is named for each day, and from
nowhere else. Everything after that is the one primitive: the same look at base and files, the same
commit. What may be returned and until when is planned; who has to agree is the engine's to check.
"""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

from backfill_platform.domain.errors import StagingIncomplete
from backfill_platform.domain.publications import Publication, PublicationOutcome
from backfill_platform.lakehouse.former_files import former_files
from backfill_platform.publisher.replace_partitions import (
    MAX_ATTEMPTS,
    BeforeCommit,
    publish_files,
    unguarded,
)

SHOWN_FILES = 5


def return_partitions(
    target: Path,
    publication: Publication,
    versions: Mapping[date, int],
    *,
    before_commit: BeforeCommit = unguarded,
    max_attempts: int = MAX_ATTEMPTS,
) -> PublicationOutcome:
    """Each day holds again what it held at `versions[day]`; `publication.files` are those files.

    Invariant: a rollback adds exactly the files that the target's log named at that version
    (test_files_that_the_target_never_held_are_not_returned).
    """
    if set(versions) != set(publication.days):
        raise ValueError(f"{publication.publication_id} must name a version for exactly its days")
    _refuse_others(target, publication, versions)
    return publish_files(
        target, target, publication, before_commit=before_commit, max_attempts=max_attempts
    )


def _refuse_others(target: Path, publication: Publication, versions: Mapping[date, int]) -> None:
    held = former_files(target, versions)
    if held is None:
        raise StagingIncomplete(
            f"{publication.table}: version {min(versions.values())} or one after it can no longer "
            "be read, so nobody knows what to return; restate the days with a new run"
        )
    differing = {file.path for file in set(held) ^ set(publication.files)}
    if differing:
        shown = ", ".join(sorted(differing)[:SHOWN_FILES])
        raise StagingIncomplete(
            f"{publication.table}: {publication.publication_id} does not name exactly what was "
            f"held before: {len(differing)} files differ ({shown}); plan the rollback again"
        )
