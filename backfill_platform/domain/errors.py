"""Why the platform refuses or stops.

    BackfillError
    ├── Retryable          the same call may succeed later, nothing has to be changed by a person
    │   ├── LostRace         another writer moved first; read again and decide again
    │   ├── PartitionsFenced  a fence of another run, or the end of one's own, forbids the commit
    │   ├── EngineUnavailable  Spark, the ledger or the storage could not be reached
    │   ├── AlertUndelivered  a channel did not take a message
    │   └── LaunchInterrupted  a Dagster run ended on something that passes
    └── Terminal           the same call will fail again until somebody changes something
        ├── DeclarationInvalid   a table, source or reference is declared wrongly
        ├── SettingsInvalid      the environment asks for something impossible
        ├── SetupIncomplete      Python, Java, jars or the ledger are not ready
        ├── PlanRefused          an intent that cannot become a manifest
        ├── PartitionsHeld       another run that may still publish holds the partitions
        ├── ManifestDrifted      what is deployed differs from what the manifest pinned
        ├── ApprovalMissing      consent that the policy asks for is not there, or has expired
        ├── ApprovalRefused      a consent that does not count: wrong digest, person, role or key
        ├── LimitExceeded        a run has taken more rows or money than its manifest allows
        ├── RunStopped           the run was cancelled, rejected or expired while this was at work
        ├── RunUnknown           the ledger holds no such run, chunk or publication
        ├── IllegalTransition    a state may not be left that way
        ├── ChunkRefused         a chunk lies outside its manifest or overlaps another
        ├── ContractBroken       a transform's output is not what its table declares
        ├── TransformNotDeterministic  a transform may give other rows when it is run again
        ├── GateFailed           staged data did not pass, so it may not be published
        ├── PrivacyRefused       what is asked for would show whom or what may not be shown
        ├── TargetMoved          the target no longer holds what the run was reviewed against
        ├── StagingIncomplete    staged files are missing or differ from what was measured
        ├── EvidenceBroken       evidence was changed after it was written
        ├── LaunchFailed         a Dagster run ended without success
        └── UnsupportedTable     a Delta table with features that would make publication unsafe

Every message says what, which and what to do now. Adapters translate library errors at their edge.
What a caller branches on (already published, lost race) is a return value and not an exception.
"""

from datetime import date
from typing import ClassVar


class BackfillError(Exception):
    """The root of everything that the platform raises on purpose."""

    code: ClassVar[str] = "backfill-error"


class Retryable(BackfillError):
    """The same call may succeed later."""

    code = "retryable"


class Terminal(BackfillError):
    """The same call fails until somebody changes something."""

    code = "terminal"


def every_kind(branch: type[BackfillError]) -> frozenset[type[BackfillError]]:
    """A branch of the tree with all that grows from it."""
    below = (kind for child in branch.__subclasses__() for kind in every_kind(child))
    return frozenset({branch, *below})


class LostRace(Retryable):
    """Another writer moved first."""

    code = "lost-race"


class PartitionsFenced(Retryable):
    """A fence forbids the commit: another run's, or one's own that has ended."""

    code = "partitions-fenced"


class EngineUnavailable(Retryable):
    """Spark, the ledger or the storage could not be reached."""

    code = "engine-unavailable"


class AlertUndelivered(Retryable):
    """A channel did not take a message; nothing else is held up by that."""

    code = "alert-undelivered"


class LaunchInterrupted(Retryable):
    """A Dagster run ended on something that passes; the message is that of its failed step."""

    code = "launch-interrupted"


class DeclarationInvalid(Terminal):
    """A declaration that cannot be loaded; names the table and the field."""

    code = "declaration-invalid"

    def __init__(self, *, subject: str, field: str, problem: str) -> None:
        super().__init__(f"{subject}: {field}: {problem}")
        self.subject = subject
        self.field = field
        self.problem = problem


class SettingsInvalid(Terminal):
    """The environment asks for something impossible."""

    code = "settings-invalid"


class SetupIncomplete(Terminal):
    """Something that set-up provides is missing or damaged."""

    code = "setup-incomplete"


class PlanRefused(Terminal):
    """An intent that cannot become a manifest, with every reason at once."""

    code = "plan-refused"

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__(
            "The plan is refused:\n" + "\n".join(f"  - {reason}" for reason in reasons)
        )
        self.reasons = reasons


class PartitionsHeld(Terminal):
    """Another run that may still publish holds some of the partitions."""

    code = "partitions-held"


class ApprovalMissing(Terminal):
    """Consent that the policy asks for is not there, or has expired."""

    code = "approval-missing"


class ApprovalRefused(Terminal):
    """A consent that does not count."""

    code = "approval-refused"


class LimitExceeded(Terminal):
    """A run has taken more than its manifest allows."""

    code = "limit-exceeded"


class RunStopped(Terminal):
    """The run was cancelled, rejected or expired while something of it was at work."""

    code = "run-stopped"


class ManifestDrifted(Terminal):
    """What is deployed differs from what the manifest pinned."""

    code = "manifest-drifted"

    def __init__(self, run_id: str, moved: tuple[str, ...]) -> None:
        lines = "\n".join(f"  - {what}" for what in moved)
        super().__init__(
            f"Run {run_id} does not start, because this has moved since its manifest was planned:\n"
            f"{lines}\nDeploy what the manifest names, or plan a new run."
        )
        self.run_id = run_id
        self.moved = moved


class RunUnknown(Terminal):
    """The ledger holds no such run, chunk or publication."""

    code = "run-unknown"


class IllegalTransition(Terminal):
    """A state may not be left that way."""

    code = "illegal-transition"


class ChunkRefused(Terminal):
    """A chunk lies outside its manifest or overlaps one that is at work."""

    code = "chunk-refused"


class ContractBroken(Terminal):
    """A transform's output is not what its table declares."""

    code = "contract-broken"


class TransformNotDeterministic(Terminal):
    """The plan that Spark makes of a transform holds what may give other rows next time."""

    code = "transform-not-deterministic"

    def __init__(self, *, table: str, transform: str, sightings: tuple[str, ...]) -> None:
        lines = "\n".join(f"  - {sighting}" for sighting in sightings)
        super().__init__(
            f"{transform} does not give {table} the same rows again whenever it is run, so nothing "
            f"is computed with it:\n{lines}\nMend it, release it as a new version, and plan again."
        )
        self.sightings = sightings


class GateFailed(Terminal):
    """Staged data without positive verdicts is never published."""

    code = "gate-failed"


class PrivacyRefused(Terminal):
    """What is asked for would show whom or what may not be shown."""

    code = "privacy-refused"


class TargetMoved(Terminal):
    """The target's partitions no longer hold what the run was reviewed against."""

    code = "target-moved"

    def __init__(
        self, message: str, *, days: tuple[date, ...] = (), versions: tuple[int, ...] = ()
    ) -> None:
        super().__init__(message)
        self.days = days  # the partitions that moved
        self.versions = versions  # the target's versions that moved them, newest first


class StagingIncomplete(Terminal):
    """Staged files are missing, or differ from what was measured."""

    code = "staging-incomplete"


class UnsupportedTable(Terminal):
    """A Delta table with features that would make publication unsafe."""

    code = "unsupported-table"


class EventRefused(Terminal):
    """A service was told of something, and will never take it."""

    code = "event-refused"


class EvidenceBroken(Terminal):
    """Evidence was changed after it was written."""

    code = "evidence-broken"


class LaunchFailed(Terminal):
    """A Dagster run ended without success; the message is that of its first failed step."""

    code = "launch-failed"
