"""The states of a run and of a chunk, and the moves between them.

`TRANSITIONS` is the one table: terminal states, the ledger's CHECK and triggers and the diagram in
the docs are derived from it. A run's state is that of its least advanced partition.
"""

from collections.abc import Mapping
from enum import StrEnum


class RunState(StrEnum):
    PLANNED = "PLANNED"  # a manifest exists; nothing has been computed
    AWAITING_APPROVAL = "AWAITING_APPROVAL"  # policy asks for consent before computing
    APPROVED = "APPROVED"  # every approval that computing needs is there
    STAGING = "STAGING"  # chunks are being computed
    STAGED = "STAGED"  # every partition is staged and measured
    VALIDATED = "VALIDATED"  # no gate refuses any partition
    AWAITING_PUBLISH = "AWAITING_PUBLISH"  # policy asks for consent before publication
    PUBLISHING = "PUBLISHING"  # the intent to publish is recorded; the target's log decides
    PUBLISHED = "PUBLISHED"  # consumers see it
    SUPERSEDED = "SUPERSEDED"  # a later accepted run replaced every partition of it
    ROLLED_BACK = "ROLLED_BACK"  # consumers see again what was there before
    REJECTED = "REJECTED"  # an approver said no
    FAILED = "FAILED"  # computing or a gate failed; staging may be tried again
    CANCELLED = "CANCELLED"  # somebody stopped it before publication
    EXPIRED = "EXPIRED"  # nobody finished it in time


_S = RunState

# Until it is being published, a run may be refused by an approver, stopped or forgotten.
_ENDS = frozenset({_S.REJECTED, _S.CANCELLED, _S.EXPIRED})

TRANSITIONS: Mapping[RunState, frozenset[RunState]] = {
    _S.PLANNED: frozenset({_S.AWAITING_APPROVAL, _S.APPROVED}) | _ENDS,
    _S.AWAITING_APPROVAL: frozenset({_S.APPROVED}) | _ENDS,
    _S.APPROVED: frozenset({_S.STAGING}) | _ENDS,
    _S.STAGING: frozenset({_S.STAGED, _S.FAILED}) | _ENDS,
    _S.STAGED: frozenset({_S.VALIDATED, _S.FAILED}) | _ENDS,
    _S.VALIDATED: frozenset({_S.AWAITING_PUBLISH, _S.PUBLISHING}) | _ENDS,
    _S.AWAITING_PUBLISH: frozenset({_S.VALIDATED, _S.PUBLISHING}) | _ENDS,
    _S.PUBLISHING: frozenset({_S.PUBLISHED, _S.VALIDATED}),
    _S.PUBLISHED: frozenset({_S.SUPERSEDED, _S.ROLLED_BACK}),
    _S.SUPERSEDED: frozenset(),
    _S.ROLLED_BACK: frozenset(),
    _S.REJECTED: frozenset(),
    _S.FAILED: frozenset({_S.STAGING}) | _ENDS,
    _S.CANCELLED: frozenset(),
    _S.EXPIRED: frozenset(),
}

TERMINAL_STATES = frozenset(state for state, following in TRANSITIONS.items() if not following)

STOPPED = _ENDS  # ended without having been published; whoever is still at work on it stops

# A run in one of these may still publish without anybody planning again, so it holds its
# partitions. A failed run holds nothing: when it is taken up again, they are looked at again.
IN_FLIGHT = frozenset(
    {
        _S.PLANNED,
        _S.AWAITING_APPROVAL,
        _S.APPROVED,
        _S.STAGING,
        _S.STAGED,
        _S.VALIDATED,
        _S.AWAITING_PUBLISH,
        _S.PUBLISHING,
    }
)

NOT_BEGUN = frozenset({_S.PLANNED, _S.AWAITING_APPROVAL, _S.APPROVED})  # so its plan can expire

# Where a yes or a no to the manifest still means something.
OPEN_TO_DECISIONS = IN_FLIGHT - {_S.PUBLISHING} | {_S.FAILED}


def may_follow(state: RunState, following: RunState) -> bool:
    return following in TRANSITIONS[state]


class ChunkStatus(StrEnum):
    CLAIMED = "CLAIMED"  # a worker computes it
    STAGED = "STAGED"  # its partitions are in the staging table and measured
    VALIDATED = "VALIDATED"  # no gate refuses any of its partitions
    PUBLISHED = "PUBLISHED"  # consumers see it, or it equals what they saw already
    FAILED = "FAILED"  # computing or a gate failed
    REPLACED = "REPLACED"  # failed, and other chunks took over its days
