"""Returns partitions to what the target held before: no file is written, copied or read.

The files come from the target's own log, at the version that is named for each day, and from
nowhere else. Everything after that is the one primitive: the same look at base and files, the same
commit. What may be returned and until when is planned; who has to agree is the engine's to check.

Where every version of the output is kept, the former one is still there: the run's own is taken
away, and to undo that it returns.
"""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

from backfill_platform.domain.errors import StagingIncomplete
from backfill_platform.domain.publications import (
    DataFile,
    Publication,
    PublicationOutcome,
    fingerprint,
)
from backfill_platform.lakehouse.former_files import former_files
from backfill_platform.publisher.output_versions import refuse_brought_to_light
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
    """Consumers see of each day again what they saw at `versions[day]`; `publication.files` are
    those files, or of versioned output those of its own version.

    Invariant: a rollback adds exactly the files that the target's log named at that version
    (test_files_that_the_target_never_held_are_not_returned).
    """
    if set(versions) != set(publication.days):
        raise ValueError(f"{publication.publication_id} must name a version for exactly its days")
    held = _seen_before(target, publication, versions)
    _refuse_others(publication, held)
    expected = {day: fingerprint(file.path for file in held if file.day == day) for day in versions}
    return publish_files(
        target,
        target,
        publication,
        before_commit=before_commit,
        look_at=lambda table: refuse_brought_to_light(table, target, publication, expected),
        max_attempts=max_attempts,
    )


def returned_files(held: tuple[DataFile, ...], output_version: str | None) -> tuple[DataFile, ...]:
    """Of what was seen before, what is no longer in the table."""
    return tuple(file for file in held if file.output_version == output_version)


def _seen_before(
    target: Path, publication: Publication, versions: Mapping[date, int]
) -> tuple[DataFile, ...]:
    held = former_files(target, versions)
    if held is None:
        raise StagingIncomplete(
            f"{publication.table}: version {min(versions.values())} or one after it can no longer "
            "be read, so nobody knows what to return; restate the days with a new run"
        )
    return held


def _refuse_others(publication: Publication, held: tuple[DataFile, ...]) -> None:
    held = returned_files(held, publication.output_version)
    differing = {file.path for file in set(held) ^ set(publication.files)}
    if differing:
        shown = ", ".join(sorted(differing)[:SHOWN_FILES])
        raise StagingIncomplete(
            f"{publication.table}: {publication.publication_id} does not name exactly what was "
            f"held before: {len(differing)} files differ ({shown}); plan the rollback again"
        )
