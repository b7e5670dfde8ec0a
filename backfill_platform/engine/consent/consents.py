"""Who has agreed to a run, and whether that is enough. Consent is to one manifest digest.

Invariant: nothing is computed or published whose consent is missing
(test_publication_is_refused_without_the_approvals_that_the_policy_asks_for). It is judged again
each time, from the stored approvals, today's policy and today's keys: an approval may expire, and a
key may be revoked, between the consent and the publication.
"""

from backfill_platform.domain.approvals import (
    ConsentPoint,
    ProposedChange,
    Requirement,
)
from backfill_platform.domain.errors import ApprovalMissing, ManifestDrifted
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.reviews import verdicts_of
from backfill_platform.engine.carry_out.progress import move_run
from backfill_platform.engine.consent.held import held_of, waiting_for
from backfill_platform.engine.platform import Platform
from backfill_platform.governance.consent import Consent, judge_consent
from backfill_platform.governance.policy import require_approvals
from backfill_platform.governance.signatures import verifier


def consent_of(platform: Platform, manifest: Manifest) -> Consent:
    now = platform.clock()
    return judge_consent(
        manifest.approval,
        platform.ledger.approvals(manifest.run_id),
        manifest_digest=manifest.digest,
        requested_by=manifest.requested_by,
        policy=platform.policy,
        verify=verifier(platform.signers, now=now),
        now=now,
    )


def await_consent(platform: Platform, manifest: Manifest) -> None:
    """A run that needs consent before it is computed says so from the beginning."""
    asked = manifest.approval
    if asked.roles and asked.before is ConsentPoint.STAGING:
        cause = f"rule {asked.rule!r} asks for {' and '.join(asked.roles)} before computing"
        state = RunState.AWAITING_APPROVAL
        move_run(platform, manifest.run_id, RunState.PLANNED, state, cause)


def hold_for_publication(platform: Platform, manifest: Manifest) -> None:
    """A validated run that may not be published yet says what it waits for."""
    if manifest.never_publishes:
        return
    unreviewed = held_of(platform, manifest).unreviewed
    missing = consent_of(platform, manifest).missing
    if unreviewed:
        cause = f"publication waits for {waiting_for(verdicts_of(unreviewed))}"
    elif missing:
        cause = f"publication waits for {' and '.join(missing)}"
    elif manifest.safety.requires_manual_publish:
        cause = "publication waits for somebody to publish it"
    else:
        return
    state = RunState.AWAITING_PUBLISH
    move_run(platform, manifest.run_id, RunState.VALIDATED, state, cause)


def refuse_without_consent(platform: Platform, manifest: Manifest, point: ConsentPoint) -> None:
    """For staging only where the policy asks for it before; for publication always."""
    _refuse_other_policy(platform, manifest)
    if point is ConsentPoint.STAGING and manifest.approval.before is not point:
        return
    consent = consent_of(platform, manifest)
    if consent.missing:
        raise ApprovalMissing(_missing_sentence(manifest, consent, point))


def required_today(platform: Platform, manifest: Manifest) -> Requirement:
    """What the policy that is deployed now asks for the change that was planned."""
    layer, _, _ = manifest.target.table.partition(".")
    return require_approvals(
        platform.policy,
        ProposedChange(
            table=manifest.target.table,
            layer=layer,
            kind=manifest.kind,
            partitions=len(manifest.target.partitions),
            is_full=manifest.is_full,
            rows_read=manifest.estimate.rows_read,
            cost_usd=manifest.estimate.cost_usd.expected,
            replaces_accepted=bool(manifest.target.base),
        ),
    )


def _refuse_other_policy(platform: Platform, manifest: Manifest) -> None:
    planned, today = manifest.approval, required_today(platform, manifest)
    if (today.roles, today.before, today.signed) != (planned.roles, planned.before, planned.signed):
        raise ManifestDrifted(
            manifest.run_id,
            (
                f"the policy: planned under rule {planned.rule!r} ({_asked(planned)}), "
                f"today it is {today.rule!r} ({_asked(today)})",
            ),
        )


def _asked(requirement: Requirement) -> str:
    if not requirement.roles:
        return "nobody has to agree"
    signed = ", signed" if requirement.signed else ""
    return f"{' and '.join(requirement.roles)} before {requirement.before.lower()}{signed}"


def _missing_sentence(manifest: Manifest, consent: Consent, point: ConsentPoint) -> str:
    ignored = "".join(f"\n  - {one.principal}: {why}" for one, why in consent.ignored)
    not_counted = f"\nThese do not count:{ignored}" if ignored else ""
    what = "is computed" if point is ConsentPoint.STAGING else "is published"
    return (
        f"Run {manifest.run_id} needs the approval of {' and '.join(consent.missing)} before it "
        f"{what} (rule {manifest.approval.rule!r}); ask for it: "
        f"`backfill approve {manifest.run_id}`{not_counted}"
    )
