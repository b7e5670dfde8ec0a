"""The closed lists of words that a run is described with; each member says what it means."""

from datetime import date
from enum import StrEnum


class RunKind(StrEnum):
    """Why a table changes."""

    BACKFILL = "BACKFILL"  # produce missing or newly required history
    REPLAY = "REPLAY"  # read old events again from a log
    REPROCESSING = "REPROCESSING"  # run the transformation again over the same input
    RESTATEMENT = "RESTATEMENT"  # publish corrected output that supersedes what was accepted
    REPAIR = "REPAIR"  # mend a bounded, damaged part
    MIGRATION = "MIGRATION"  # fill a new target from an old source
    BOOTSTRAP = "BOOTSTRAP"  # first load before streaming begins
    ROLLBACK = "ROLLBACK"  # return partitions to what an earlier run had published
    LIVE = "LIVE"  # the ordinary daily run


class ExecutionMode(StrEnum):
    """What the code of a run may touch."""

    LIVE = "LIVE"  # current data; the only mode that may reach a sink with side effects
    BACKFILL = "BACKFILL"  # history, into staging, published after its gates
    REPLAY = "REPLAY"  # history from a log, into staging, published after its gates
    DRY_RUN = "DRY_RUN"  # computes and measures, never publishes
    RECONCILIATION = "RECONCILIATION"  # reads and compares, never publishes


class PublishMode(StrEnum):
    """How staged partitions become visible."""

    REPLACE_PARTITIONS = "REPLACE_PARTITIONS"  # each named partition is replaced as a whole
    APPEND_ONLY = "APPEND_ONLY"  # a partition is written once; one that holds something is refused
    MERGE_BY_KEY = "MERGE_BY_KEY"  # key by key the higher version stays, in a merged partition
    VERSIONED = "VERSIONED"  # each run adds output of its own; the latest is what consumers see
    SHADOW_SWAP = (
        "SHADOW_SWAP"  # the whole table is computed beside the old one and takes its place
    )


class PublishScope(StrEnum):
    """How much of a run becomes visible at once, and for whom."""

    PROGRESSIVE = "PROGRESSIVE"  # each chunk in a commit of its own
    WHOLE_RUN = "WHOLE_RUN"  # all partitions in one commit
    DUAL_READ = "DUAL_READ"  # both can be read; in one commit, by hand, once they were compared
    DARK = "DARK"  # only whoever is told where it is staged can read it; never published

    @property
    def is_at_once(self) -> bool:
        """Whether all partitions of a run become visible in one commit, or none."""
        return self in (PublishScope.WHOLE_RUN, PublishScope.DUAL_READ)


class VersionColumn(StrEnum):
    """The second partition column of a table that keeps every version of its output."""

    AS_OF_DATE = "as_of_date"  # a date: what the platform knew as of that day
    OUTPUT_VERSION = "output_version"  # an integer that counts up

    @property
    def type(self) -> str:
        return "date" if self is VersionColumn.AS_OF_DATE else "integer"

    def rank(self, version: str) -> int:
        """The greater one is the later one: as texts, 10 would come before 9."""
        is_day = self is VersionColumn.AS_OF_DATE
        return date.fromisoformat(version).toordinal() if is_day else int(version)

    def of_rank(self, rank: int) -> str:
        return str(date.fromordinal(rank) if self is VersionColumn.AS_OF_DATE else rank)


class LiveConflicts(StrEnum):
    """Who gives way where live data and a run want the same partitions."""

    FREEZE = "FREEZE"  # live writers wait until the run has published
    VERSIONED = "VERSIONED"  # each writes output of its own, side by side
    MERGE_BY_VERSION = "MERGE_BY_VERSION"  # key by key the higher version stays


class Knowledge(StrEnum):
    """Which arrivals a day of output may use."""

    AS_KNOWN_THEN = "AS_KNOWN_THEN"  # only what had arrived by the end of that day
    UP_TO_SNAPSHOT = (
        "UP_TO_SNAPSHOT"  # also what arrived later, within the input's declared lateness
    )


class Classification(StrEnum):
    """How far data may travel, the least protected first; it never flows into a lower class."""

    PUBLIC = "PUBLIC"
    INTERNAL = "INTERNAL"
    CONFIDENTIAL = "CONFIDENTIAL"
    RESTRICTED = "RESTRICTED"

    def is_above(self, other: "Classification") -> bool:
        order = tuple(Classification)
        return order.index(self) > order.index(other)


class ReferenceSemantics(StrEnum):
    """What a pinned version of reference data stands for."""

    AS_RECORDED_THEN = "AS_RECORDED_THEN"  # what the system believed at the time
    CORRECTED_TRUTH = "CORRECTED_TRUTH"  # what should have been true
    CURRENT = "CURRENT"  # the version that is accepted today
    AS_USED_BY_ORIGINAL = "AS_USED_BY_ORIGINAL"  # the version of the run that is being superseded
