"""Gives up unattended repairs that nobody began: a launch that is refused leaves them planned.

Other runs wait for people as long as their plan is valid, and that may be days. A repair that
nobody waits for would keep its table from every other repair for as long, for instance where other
code was deployed between its plan and its launch. It expires, and the next attempt is planned anew.
"""

from datetime import timedelta

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.runs import RunInFlight
from backfill_platform.engine.platform import Platform

BEGIN_WITHIN = timedelta(hours=2)

_NOT_BEGUN = frozenset({RunState.PLANNED, RunState.APPROVED})  # and waits for nobody


def expire_unbegun(platform: Platform) -> None:
    """Where it begins at this moment, the guarded move is lost, and it goes on."""
    rules, now = platform.policy.repairs, platform.clock()
    if rules is None:
        return
    for runs in platform.ledger.all_in_flight(tuple(platform.catalog.tables), now).values():
        for run in runs:
            if run.requested_by == rules.requested_by and run.state in _NOT_BEGUN:
                _expire_old(platform, run)


def _expire_old(platform: Platform, run: RunInFlight) -> None:
    now = platform.clock()
    if platform.ledger.run(run.run_id).planned_at + BEGIN_WITHIN > now:
        return
    platform.ledger.move(
        run.run_id,
        run.state,
        RunState.EXPIRED,
        actor=platform.worker,
        cause=f"nobody began this repair within {BEGIN_WITHIN.seconds // 3600} hours",
        details={},
        now=now,
    )
