"""Whether what is asked for may be published now: everything that forbids it, before the target is
looked at.

Invariant: nothing is published whose gates did not pass
(test_publication_is_refused_without_stored_positive_verdicts), whose held figures nobody has
reviewed, or whose approvals are missing. The lock is here and not in the orchestrator, so it holds
whoever asks and from wherever.
"""

from backfill_platform.domain.approvals import ConsentPoint
from backfill_platform.domain.errors import ApprovalMissing, GateFailed
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.verdicts import Gate, Outcome
from backfill_platform.engine.carry_out.boundaries import refuse_cut, refuse_rollback
from backfill_platform.engine.carry_out.pacing import refuse_stopped
from backfill_platform.engine.carry_out.scopes import refuse_never_published, refuse_part
from backfill_platform.engine.consent.consents import refuse_without_consent
from backfill_platform.engine.consent.held import refuse_unreviewed
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.comparisons import refuse_uncompared

SETTLED = frozenset({ChunkStatus.VALIDATED, ChunkStatus.PUBLISHED})


def refuse_publication(
    platform: Platform, manifest: Manifest, days: PartitionSet, *, by_hand: bool
) -> None:
    refuse_rollback(manifest)
    for part in days.ranges:
        refuse_cut(manifest, part)
    refuse_never_published(platform, manifest)
    refuse_part(manifest, days)
    refuse_stopped(platform, manifest.run_id)
    _refuse_unless_validated(platform, manifest, days)
    refuse_unagreed(platform, manifest, days, by_hand=by_hand)


def refuse_unagreed(
    platform: Platform, manifest: Manifest, days: PartitionSet, *, by_hand: bool
) -> None:
    """What waits for somebody's word, whatever the gates say; also asked by those who only want to
    know whether publication is worth a launch."""
    refuse_unreviewed(platform, manifest, days)
    refuse_without_consent(platform, manifest, ConsentPoint.PUBLICATION)
    _refuse_unasked(manifest, by_hand=by_hand)
    refuse_uncompared(platform, manifest)


def _refuse_unless_validated(platform: Platform, manifest: Manifest, days: PartitionSet) -> None:
    run_id = manifest.run_id
    outcomes = platform.ledger.outcomes(run_id, days)
    gates = [Gate(gate) for gate in manifest.validation.gates]
    missing = [
        (day, gate)
        for day in days
        for gate in gates
        if outcomes.get((day, gate), Outcome.FAILED) is Outcome.FAILED
    ]
    if missing:
        day, gate = missing[0]
        raise GateFailed(
            f"{len(missing)} verdicts of run {run_id} for {days} are negative or missing "
            f"(first {gate} of {day}), so nothing is published and {days} stays as it was. "
            "Mend the cause and launch a new run"
        )
    # A chunk that is being staged again keeps its former verdicts until it is judged again.
    unsettled = set(days) - platform.ledger.covered_days(run_id, SETTLED)
    if unsettled:
        raise GateFailed(
            f"{len(unsettled)} days of run {run_id} (first {min(unsettled)}) are being staged "
            "again, so nothing is published. Wait until they are judged"
        )


def _refuse_unasked(manifest: Manifest, *, by_hand: bool) -> None:
    if manifest.safety.requires_manual_publish and not by_hand:
        raise ApprovalMissing(
            f"Run {manifest.run_id} is staged and judged, and it is to be published by hand: "
            f"`backfill publish {manifest.run_id}`"
        )
