"""Where a run stands, as a page's metadata: its state, who has agreed, and what to do now.

Read from the ledger alone. A step is told twice: as the command line types it, and as Dagster does.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from backfill_platform.domain.approvals import Approval, Decision
from backfill_platform.engine.look.status import RunStatus
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.check_words import show_instant
from backfill_platform.orchestration.plan_tables import Row, table_of

# Which job does what a verb does.
_JOBS: Mapping[str, str] = {
    "approve": "approve_run",
    "cancel": "cancel_run",
    "compare": "compare_run",
    "plan": "plan_only",
    "publish": "publish_run",
    "reproduce": "reproduce_run",
    "review": "review_run",
    "rollback": "roll_back_run",
}
_CARRY_OUT = frozenset({"run", "retry"})


def standing_metadata(status: RunStatus) -> dict[str, Any]:
    step = status.next_step
    told: dict[str, Any] = {
        "run": status.run.run_id,
        "state": status.run.state.value,
        "waits for": step.waits_for or "nothing",
        "do now": "; ".join(step.commands),
        "do now in Dagster": "; ".join(dict.fromkeys(_in_dagster(status))) or "nothing",
        "approvals": table_of(rows) if (rows := [*_approvals(status)]) else _nobody(status),
    }
    return told


def _in_dagster(status: RunStatus) -> Iterator[str]:
    layer, _, name = status.run.table.partition(".")
    for command in status.next_step.commands:
        verb = command.split()[1]
        if verb in _JOBS:
            yield f"launch the job {_JOBS[verb]}"
        if verb in _CARRY_OUT:
            yield (
                f"materialize staging/{layer}/{name} over {status.manifest.target.partitions} "
                f"with the tag {tags.RUN}: {status.run.run_id}"
            )


def _nobody(status: RunStatus) -> str:
    return f"rule {status.manifest.approval.rule!r} asks nobody"


def _approvals(status: RunStatus) -> Iterator[Row]:
    """A line for each that is asked for, and for each no."""
    asked = status.manifest.approval
    given: dict[str, list[Approval]] = defaultdict(list)
    for one in status.approvals:
        given[one.role if one.decision is Decision.APPROVED else ""].append(one)
    missing = list(status.missing_roles)
    for role in asked.roles:
        is_missing = role in missing
        agreed = given[role].pop() if given[role] and not is_missing else None
        if is_missing:
            missing.remove(role)
        yield {
            "role": role,
            "before": asked.before.value,
            "signed": "yes" if asked.signed else "no",
            "agreed": f"{agreed.principal}, until {_until(agreed)}" if agreed else "missing",
        }
    for one in given[""]:
        yield {"role": one.role, "before": "", "signed": "", "agreed": f"no: {one.reason}"}


def _until(approval: Approval) -> str:
    return show_instant(approval.expires_at)
