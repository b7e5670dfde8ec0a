"""Jobs `approve_run`, `reject_run` and `review_run`: somebody's word on a run.

Where the policy asks for a signature the word is given on the command line, where the key is.
"""

import dagster as dg
from pydantic import Field

from backfill_platform.domain.approvals import Approval, Decision
from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.reviews import Review
from backfill_platform.engine.consent.approving import decide, draft_approval
from backfill_platform.engine.consent.reviewing import draft_review, review_run
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration.failures import told_to_dagster
from backfill_platform.orchestration.jobs.acting import Desk, OnRunConfig, make_job, tell

_ROLE = "In which role; chosen by the policy when nothing is said."


class ApproveConfig(OnRunConfig):
    role: str = Field(default="", description=_ROLE)
    reason: str = Field(default="", description="What it rests on; kept with it.")


class RejectConfig(OnRunConfig):
    role: str = Field(default="", description=_ROLE)
    reason: str = Field(description="What has to change; whoever asked has to know.")


class ReviewConfig(OnRunConfig):
    decision: Decision = Field(
        description="APPROVED: these figures are right. REJECTED: they are not, and the run ends.",
    )
    role: str = Field(default="", description=_ROLE)
    reason: str = Field(description="Why; kept with it.")


def make_approve_job(desk: Desk) -> dg.JobDefinition:
    @dg.op(out=dg.Out(dg.Nothing), description="Agree to a run as it is planned.")
    def approve(context: dg.OpExecutionContext, config: ApproveConfig):
        with told_to_dagster():
            actor, run_id = desk.actor(context, config), RunId(config.run)
            drafted = draft_approval(
                desk.platform,
                run_id,
                principal=actor,
                role=config.role or None,
                reason=config.reason,
            )
            _refuse_unsigned_approval(desk.platform, drafted)
            done = decide(desk.platform, drafted)
        tell(context, desk, run_id, _said(done.approval, was_known=done.was_known))

    return make_job("approve_run", approve)


def make_reject_job(desk: Desk) -> dg.JobDefinition:
    @dg.op(out=dg.Out(dg.Nothing), description="Say no to a run as it is planned; it ends.")
    def reject(context: dg.OpExecutionContext, config: RejectConfig):
        with told_to_dagster():
            actor, run_id = desk.actor(context, config), RunId(config.run)
            drafted = draft_approval(
                desk.platform,
                run_id,
                principal=actor,
                role=config.role or None,
                decision=Decision.REJECTED,
                reason=config.reason,
            )
            done = decide(desk.platform, drafted)
        tell(context, desk, run_id, _said(done.approval, was_known=done.was_known))

    return make_job("reject_run", reject)


def make_review_job(desk: Desk) -> dg.JobDefinition:
    @dg.op(out=dg.Out(dg.Nothing), description="Say as an owner whether what gates hold is right.")
    def review(context: dg.OpExecutionContext, config: ReviewConfig):
        with told_to_dagster():
            actor, run_id = desk.actor(context, config), RunId(config.run)
            _refuse_empty(config.reason)
            drafted = draft_review(
                desk.platform,
                run_id,
                principal=actor,
                role=config.role or None,
                decision=config.decision,
                reason=config.reason,
            )
            _refuse_unsigned_review(desk.platform, drafted)
            done = review_run(desk.platform, drafted)
        tell(context, desk, run_id, _reviewed(done.review, was_known=done.was_known))

    return make_job("review_run", review)


def _refuse_unsigned_approval(platform: Platform, drafted: Approval) -> None:
    """One that was given before, with its signature, is found again and counts."""
    asked = load_manifest(platform, drafted.run_id).approval
    if asked.signed and drafted.signature is None:
        raise ApprovalRefused(
            f"Rule {asked.rule!r} asks for a signed approval, and nobody signs in a browser; type: "
            f"backfill approve {drafted.run_id} --as {drafted.principal} --role {drafted.role} "
            "--key FILE --confirm"
        )


def _refuse_unsigned_review(platform: Platform, drafted: Review) -> None:
    is_yes = drafted.decision is Decision.APPROVED
    if platform.policy.reviews.signed and is_yes and drafted.signature is None:
        raise ApprovalRefused(
            "The policy asks for signed reviews, and nobody signs in a browser; type: "
            f"backfill review {drafted.run_id} --accept --as {drafted.principal} "
            f'--role {drafted.role} --reason "{drafted.reason}" --key FILE --confirm'
        )


def _refuse_empty(reason: str) -> None:
    if not reason.strip():
        raise ApprovalRefused("Say why, in `reason`: whoever reads it later will ask")


def _said(approval: Approval, *, was_known: bool) -> str:
    again = "; it was recorded before" if was_known else ""
    decision = approval.decision.lower()
    return f"{approval.run_id}: {decision} by {approval.principal} as {approval.role}{again}"


def _reviewed(review: Review, *, was_known: bool) -> str:
    again = "; it was recorded before" if was_known else ""
    how = "accepted" if review.decision is Decision.APPROVED else "rejected"
    held = f"{review.held:,} held verdicts {how}"
    return f"{review.run_id}: {held} by {review.principal} as {review.role}{again}"
