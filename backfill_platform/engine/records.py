"""Writes the evidence of a run: one record per step, in the run's own hash-chained bundle."""

from collections.abc import Iterable, Mapping
from typing import Any

from backfill_platform.domain.chunks import ClaimedChunk
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.merges import MergeCounts
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.verdicts import Outcome, Verdict
from backfill_platform.engine.platform import Platform
from backfill_platform.evidence.bundle import EvidenceBundle


def bundle(platform: Platform, run_id: RunId) -> EvidenceBundle:
    return EvidenceBundle(platform.evidence, run_id)


def keep_record(
    platform: Platform, run_id: RunId, kind: str, *, key: str, body: Mapping[str, Any]
) -> None:
    bundle(platform, run_id).append(kind=kind, key=key, at=platform.clock(), body=body)


def keep_merge(platform: Platform, run_id: RunId, claim: ClaimedChunk, merged: MergeCounts) -> None:
    """For each attempt, before its chunk counts as finished: a stale or a deleted row is nowhere in
    the numbers of what was staged."""
    body = {"days": str(claim.days), **to_plain(merged)}
    key = f"merge:{claim.days}:{claim.fencing_token}"
    keep_record(platform, run_id, "merge", key=key, body=body)


def keep_verdicts(
    platform: Platform, run_id: RunId, days: DayRange, verdicts: Iterable[Verdict]
) -> None:
    """Each judgement of a chunk is one record: it may be staged and judged again."""
    judged = tuple(verdicts)
    body = {
        "days": str(days),
        "verdicts": len(judged),
        "failed": _said([verdict for verdict in judged if verdict.is_refusal]),
        "held": _said([verdict for verdict in judged if verdict.is_held]),
        "warned": _said([verdict for verdict in judged if verdict.outcome is Outcome.WARNED]),
    }
    key = f"verdicts:{days}:{platform.clock().isoformat()}"
    keep_record(platform, run_id, "verdicts", key=key, body=body)


def _said(verdicts: Iterable[Verdict]) -> list[dict[str, Any]]:
    """With the figures that stray: the others stand in the ledger."""
    return [
        {
            "gate": verdict.gate,
            "day": verdict.day.isoformat(),
            "message": verdict.message,
            "figures": [to_plain(figure) for figure in verdict.figures if figure.strays],
        }
        for verdict in verdicts
    ]
