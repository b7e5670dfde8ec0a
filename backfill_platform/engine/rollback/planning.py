"""Plans a rollback: from a run and some of its days to a manifest in the ledger.

`draft_rollback` decides and writes nothing; `plan_rollback` records exactly what was drafted, or
finds that the same was asked for before. It is carried out in `rolling_back`.
"""

from collections.abc import Callable
from datetime import datetime

from backfill_platform.domain.identity import build_run_id
from backfill_platform.domain.lifecycle import IN_FLIGHT, NOT_BEGUN, RunState
from backfill_platform.domain.manifests import Manifest, manifest_json
from backfill_platform.domain.runs import NewRun
from backfill_platform.engine.carry_out.progress import move_run
from backfill_platform.engine.consent.consents import consent_of
from backfill_platform.engine.loading import read_manifest
from backfill_platform.engine.plan.facts import policy_terms
from backfill_platform.engine.plan.planning import keep_plan
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.rollback.facts import gather_rollback_facts, known_rollbacks
from backfill_platform.planner.rollback import build_rollback
from backfill_platform.planner.rollback_facts import RollbackRequest


def draft_rollback(platform: Platform, request: RollbackRequest) -> Manifest:
    """What `plan_rollback` would record now; nothing is written."""
    known = find_rollback(platform, request)
    if known is not None:
        return known
    now, undone, draft = _drafting(platform, request)
    table, version = undone.target.table, undone.transform.version
    return draft(platform.ledger.next_number(table, version, now.date()))


def plan_rollback(platform: Platform, request: RollbackRequest) -> Manifest:
    """The rollback of these days: planned now, or the one that is planned or done already."""
    manifest = find_rollback(platform, request) or _register(platform, request)
    if platform.ledger.run(manifest.run_id).state is RunState.PLANNED:
        keep_rollback_plan(platform, manifest)
    return manifest


def keep_rollback_plan(platform: Platform, manifest: Manifest) -> None:
    """There is nothing to stage first, so it waits for consent from the beginning, whatever the
    policy says about when it is needed."""
    keep_plan(platform, manifest)
    missing = consent_of(platform, manifest).missing
    if missing:
        cause = f"rule {manifest.approval.rule!r} asks for {' and '.join(missing)}"
        move_run(platform, manifest.run_id, RunState.PLANNED, RunState.AWAITING_APPROVAL, cause)


def find_rollback(platform: Platform, request: RollbackRequest) -> Manifest | None:
    """Whoever asks for the same again joins it. A request without days joins one that is on its
    way, and one that is done only when it has undone the last of the run."""
    undone = platform.ledger.run(request.run_id)
    known = [
        manifest
        for manifest in known_rollbacks(platform.ledger, undone.table)
        if manifest.undoes and manifest.undoes.run_id == undone.run_id
    ]
    on_its_way = [one for one in known if state_of_plan(platform, one) in IN_FLIGHT]
    done = [one for one in known if _is_still_seen(platform, one)]
    if request.days is not None:
        candidates = [one for one in on_its_way + done if one.target.partitions == request.days]
    else:
        candidates = on_its_way or (done if undone.state is RunState.ROLLED_BACK else [])
    return next(iter(candidates), None)


def state_of_plan(platform: Platform, manifest: Manifest) -> RunState:
    """A plan whose time is over counts as expired, also where nobody has said so yet."""
    state = platform.ledger.run(manifest.run_id).state
    is_over = state in NOT_BEGUN and manifest.valid_until <= platform.clock()
    return RunState.EXPIRED if is_over else state


def _drafting(
    platform: Platform, request: RollbackRequest
) -> tuple[datetime, Manifest, Callable[[int], Manifest]]:
    facts, terms = gather_rollback_facts(platform, request), policy_terms(platform)
    undone = facts.undone

    def draft(number: int) -> Manifest:
        run_id = build_run_id(
            planned_on=facts.now.date(),
            table=undone.target.table,
            version=undone.transform.version,
            number=number,
        )
        return build_rollback(request, platform.catalog, facts, terms, run_id)

    return facts.now, undone, draft


def _register(platform: Platform, request: RollbackRequest) -> Manifest:
    now, undone, draft = _drafting(platform, request)
    record = platform.ledger.register_run(
        lambda number: _new_run(draft(number)),
        table=undone.target.table,
        transform_version=undone.transform.version,
        planned_on=now.date(),
        now=now,
    )
    return read_manifest(record)


def _new_run(manifest: Manifest) -> NewRun:
    return NewRun(
        run_id=manifest.run_id,
        group_id=manifest.group_id,
        origin=f"{manifest.group_id}:{manifest.run_id}",
        table=manifest.target.table,
        kind=manifest.kind,
        mode=manifest.mode,
        transform_version=manifest.transform.version,
        days=manifest.target.partitions,
        valid_until=manifest.valid_until,
        replaces=None,
        cost_usd=manifest.estimate.cost_usd.expected,
        manifest_json=manifest_json(manifest),
        manifest_digest=manifest.digest,
        actor=manifest.requested_by,
        reason=manifest.reason,
    )


def _is_still_seen(platform: Platform, manifest: Manifest) -> bool:
    """Whether consumers see, on all its days, what it returned."""
    days = manifest.target.partitions
    accepted = platform.ledger.accepted(manifest.target.table, days)
    seen = {one.run_id for one in accepted.values()}
    return len(accepted) == len(days) and seen == {manifest.run_id}
