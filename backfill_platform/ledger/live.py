"""Whether a live run and another one may both write the same partitions of a table.

The policy is the one that both were planned under. Nothing is decided by luck then either: whoever
publishes second finds that the base has moved, and is planned again on what it sees.
"""

from backfill_platform.domain.manifests import lets_live_beside
from backfill_platform.domain.modes import ExecutionMode
from backfill_platform.domain.runs import NewRun, RunRecord


def may_write_beside(one: NewRun | RunRecord, other: RunRecord) -> bool:
    is_one_live = (one.mode is ExecutionMode.LIVE) != (other.mode is ExecutionMode.LIVE)
    return is_one_live and all(lets_live_beside(run.manifest_json) for run in (one, other))
