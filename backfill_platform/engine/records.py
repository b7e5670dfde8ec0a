"""Writes the evidence of a run: one record per step, in the run's own hash-chained bundle."""

from collections.abc import Mapping
from typing import Any

from backfill_platform.domain.identity import RunId
from backfill_platform.engine.platform import Platform
from backfill_platform.evidence.bundle import EvidenceBundle


def bundle(platform: Platform, run_id: RunId) -> EvidenceBundle:
    return EvidenceBundle(platform.evidence, run_id)


def keep_record(
    platform: Platform, run_id: RunId, kind: str, *, key: str, body: Mapping[str, Any]
) -> None:
    bundle(platform, run_id).append(kind=kind, key=key, at=platform.clock(), body=body)
