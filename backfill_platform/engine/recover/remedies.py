"""What recovery may do about a run, as values: a dry run tells them, a recovery carries them out.

None of them publishes anything, and each is safe to carry out twice or by two at once. What is
needed is decided in `diagnosis`, how it is done stands in `recovering`.
"""

from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.partitions import DayRange, PartitionSet


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLanding:
    """The target's log holds a publication, and the ledger does not know it."""

    publication_id: str
    version: int
    days: tuple[date, ...]

    def __str__(self) -> str:
        return (
            f"{self.publication_id} landed in version {self.version}: "
            "record the fact, and what follows from it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp:
    """The log does not hold it, and nobody is at work on it."""

    publication_id: str
    days: tuple[date, ...]

    def __str__(self) -> str:
        return f"{self.publication_id} has not landed: give it up, so that it may be tried again"


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishRollback:
    """It landed; its fact, the undone run or the evidence is missing."""

    def __str__(self) -> str:
        return "the rollback has landed: record it, and end the run that it undoes"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkPublished:
    """A publication that landed covers the chunk."""

    days: DayRange

    def __str__(self) -> str:
        return f"{self.days} landed: mark the chunk published"


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeChunk:
    """Its worker died, or lost its lease."""

    chunk_id: str
    days: DayRange
    fencing_token: int
    cause: str

    def __str__(self) -> str:
        return f"{self.days}: {self.cause}: free the chunk, so that it may be computed again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """Every partition has come further than the run says."""

    following: RunState

    def __str__(self) -> str:
        return f"every partition has come further than the run: it becomes {self.following}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailRun:
    """A chunk failed, nobody is at work, and the run does not say so."""

    cause: str

    def __str__(self) -> str:
        return f"{self.cause}: the run becomes FAILED, so that it may be tried again"


@dataclass(frozen=True, slots=True, kw_only=True)
class StandBack:
    """It says that it is being published, and nobody is at it."""

    def __str__(self) -> str:
        return "nobody publishes it any more: it becomes VALIDATED, so that it may be published"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndReplaced:
    """Nothing is owed to it any more, and it does not say so."""

    taken_by: RunId

    def __str__(self) -> str:
        return f"{self.taken_by} has taken the last of its partitions: say so"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepPlan:
    def __str__(self) -> str:
        return "the evidence lacks the plan: keep it"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepVerdicts:
    days: DayRange

    def __str__(self) -> str:
        return f"the evidence lacks the verdicts on {self.days}: keep them"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepPublication:
    days: PartitionSet
    changed: tuple[date, ...]
    version: int | None  # nothing where nothing had to be changed

    def __str__(self) -> str:
        return f"the evidence lacks the publication of {self.days}: keep it"


@dataclass(frozen=True, slots=True, kw_only=True)
class TellUntold:
    """It landed, and those who follow the table's topic do not know it."""

    publications: tuple[str, ...]

    def __str__(self) -> str:
        return f"{' and '.join(self.publications)}: tell the topic what came and what went"


Remedy = (
    RecordLanding
    | GiveUp
    | FinishRollback
    | MarkPublished
    | FreeChunk
    | Advance
    | FailRun
    | StandBack
    | EndReplaced
    | KeepPlan
    | KeepVerdicts
    | KeepPublication
    | TellUntold
)
