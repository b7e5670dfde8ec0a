"""What a run waits for, and what somebody may type next; one answer for every screen.

It reckons with what is recorded. Whether a recorded approval still counts under today's policy and
keys is judged where it matters: when the run starts and when it is published.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from backfill_platform.domain.approvals import Approval, ConsentPoint, Decision
from backfill_platform.domain.lifecycle import IN_FLIGHT, RunState
from backfill_platform.domain.manifests import Manifest, ReplacedManifest
from backfill_platform.domain.modes import PublishScope
from backfill_platform.domain.reviews import review_of

_S = RunState

_RUN = ("somebody to run it", "backfill run {run}")
_CHUNKS = ("its chunks, which are being computed", "backfill watch {run}")
_STOPPED = ("", "backfill plan {table} --dry-run")

# By state: what it waits for, and the commands; where approvals decide, see `next_step`.
_STEPS: Mapping[RunState, tuple[str, ...]] = {
    _S.PLANNED: _RUN,
    _S.AWAITING_APPROVAL: _RUN,
    _S.APPROVED: _RUN,
    _S.STAGING: _CHUNKS,
    _S.STAGED: _CHUNKS,
    _S.PUBLISHING: ("its publication, which has begun", "backfill publish {run}"),
    _S.PUBLISHED: ("", "backfill validate {run}", "backfill history {table}"),
    _S.SUPERSEDED: ("", "backfill history {table}"),
    _S.ROLLED_BACK: ("", "backfill history {table}"),
    _S.FAILED: (
        "somebody to mend what it failed on",
        "backfill validate {run}",
        "backfill retry {run}",
    ),
    _S.REJECTED: _STOPPED,
    _S.CANCELLED: _STOPPED,
    _S.EXPIRED: _STOPPED,
}


UNTIL_PUBLISHED = frozenset({_S.VALIDATED, _S.AWAITING_PUBLISH, _S.PUBLISHING})


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    waits_for: str  # nothing when the run has come to its end
    waits_for_somebody: bool  # for a person's word, and not for a worker
    commands: tuple[str, ...]


def missing_roles(
    manifest: Manifest, approvals: Iterable[Approval], now: datetime
) -> tuple[str, ...]:
    """Roles that nobody else than the requester has agreed in, as far as it is recorded."""
    given = Counter(
        one.role
        for one in approvals
        if one.decision is Decision.APPROVED
        and one.manifest_digest == manifest.digest
        and one.principal.casefold() != manifest.requested_by.casefold()
        and one.expires_at > now
    )
    return tuple((Counter(manifest.approval.roles) - given).elements())


def next_step(
    state: RunState,
    manifest: Manifest,
    missing: tuple[str, ...],
    *,
    held: int = 0,
    is_compared: bool = False,
    is_untold: bool = False,
) -> NextStep:
    """`held` counts the held verdicts that nobody has reviewed, as far as it is recorded."""
    if is_untold:
        return _tell(manifest)
    if missing and _is_asked_before_staging(state, manifest):
        return _ask(manifest, missing, "before anything is computed")
    if manifest.undoes is not None and state in IN_FLIGHT:
        return _before_rollback(manifest, manifest.undoes, missing)
    if held and state in UNTIL_PUBLISHED and not manifest.never_publishes:
        return _review(manifest, missing, held)
    if state in {_S.VALIDATED, _S.AWAITING_PUBLISH}:
        return _once_judged(manifest, missing, is_compared=is_compared)
    waits_for, *commands = _STEPS[state]
    named = {"run": manifest.run_id, "table": manifest.target.table}
    return NextStep(
        waits_for=waits_for,
        waits_for_somebody=False,
        commands=tuple(command.format(**named) for command in commands),
    )


def _tell(manifest: Manifest) -> NextStep:
    """It is published; those who follow its topic do not know it yet."""
    return NextStep(
        waits_for=f"the topic {manifest.target.topic} to be told of it",
        waits_for_somebody=False,
        commands=(f"backfill recover {manifest.run_id}",),
    )


def _is_asked_before_staging(state: RunState, manifest: Manifest) -> bool:
    is_asked = manifest.approval.before is ConsentPoint.STAGING
    return is_asked and state in {_S.PLANNED, _S.AWAITING_APPROVAL, _S.APPROVED}


def _once_judged(manifest: Manifest, missing: tuple[str, ...], *, is_compared: bool) -> NextStep:
    if manifest.never_publishes:
        return _end_unpublished(manifest)
    if missing:
        return _ask(manifest, missing, "before it is published")
    is_dual = manifest.target.publish_scope is PublishScope.DUAL_READ
    run_id = manifest.run_id
    return NextStep(
        waits_for=f"somebody to {'compare and ' if is_dual and not is_compared else ''}publish it",
        waits_for_somebody=True,
        commands=(f"backfill compare {run_id}", f"backfill publish {run_id}"),
    )


def _review(manifest: Manifest, missing: tuple[str, ...], held: int) -> NextStep:
    """Whoever agrees to publication reads the difference, and so does whoever reviews."""
    run_id = manifest.run_id
    asked = _ask(manifest, missing, "before it is published") if missing else None
    waits_for = review_of(held) + (f", and {asked.waits_for}" if asked else "")
    return NextStep(
        waits_for=waits_for,
        waits_for_somebody=True,
        commands=(
            f"backfill compare {run_id}",
            f"backfill review {run_id}",
            *(asked.commands[1:] if asked else ()),
        ),
    )


def _end_unpublished(manifest: Manifest) -> NextStep:
    """It stays as it is, and is in nobody's way, until somebody ends it or plans it otherwise."""
    run_id, target = manifest.run_id, manifest.target
    is_dark = target.publish_scope is PublishScope.DARK
    scope = " --publish-scope whole-run" if is_dark else ""
    replace = f'--days "{target.partitions}"{scope} --replaces {run_id}'
    return NextStep(
        waits_for="",
        waits_for_somebody=False,
        commands=(
            f"backfill compare {run_id}",
            f"backfill plan {target.table} {replace}",
            f"backfill cancel {run_id}",
        ),
    )


def _before_rollback(
    manifest: Manifest, undoes: ReplacedManifest, missing: tuple[str, ...]
) -> NextStep:
    """It computes nothing, so the same call carries it out."""
    if missing:
        return _ask(manifest, missing, "before it is published")
    days = manifest.target.partitions
    return NextStep(
        waits_for="somebody to carry it out",
        waits_for_somebody=True,
        commands=(f'backfill rollback {undoes.run_id} --days "{days}"',),
    )


def _ask(manifest: Manifest, missing: tuple[str, ...], when: str) -> NextStep:
    """Consent before publication is given after a look at the difference."""
    is_staged = manifest.approval.before is ConsentPoint.PUBLICATION and manifest.undoes is None
    look = "compare" if is_staged else "show"
    signed = " --key FILE" if manifest.approval.signed else ""
    approve = (
        f"backfill approve {manifest.run_id} --as NAME --role {role}{signed}"
        for role in dict.fromkeys(missing)
    )
    return NextStep(
        waits_for=f"the approval of {' and '.join(missing)} {when}",
        waits_for_somebody=True,
        commands=(f"backfill {look} {manifest.run_id}", *approve),
    )
