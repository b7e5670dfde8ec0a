"""What a materialization of a published partition says, whoever reports it.

A Dagster run that publishes says it of its chunk, in `assets`; what happened elsewhere is told from
the ledger, in `following`. Both say the same of the same partition, or else following would never
come to an end.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import dagster as dg

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.runs import AcceptedPartition

ROW_COUNT = "dagster/row_count"
CHECKSUM = "checksum"
ACCEPTED_RUN = "accepted run"
DELTA_VERSION = "delta version"
DATA_VERSION_TAG = "dagster/data_version"


def run_metadata(evidence: Path, manifest: Manifest) -> dict[str, Any]:
    transform = manifest.transform
    return {
        "run": manifest.run_id,
        "reason": manifest.reason,
        "transform": f"{transform.name}/{transform.version}",
        "manifest digest": manifest.digest,
        "input": manifest.input_snapshot,
        "reference data": manifest.reference_data_version or "none",
        "evidence": dg.MetadataValue.path(evidence / manifest.run_id),
        **_judged_otherwise(manifest),
    }


def _judged_otherwise(manifest: Manifest) -> dict[str, Any]:
    said = manifest.validation.overridden
    return {"judged otherwise than its table": "; ".join(said)} if said else {}


def partition_metadata(accepted: AcceptedPartition) -> dict[str, Any]:
    return {
        ROW_COUNT: accepted.row_count,
        CHECKSUM: accepted.checksum,
        ACCEPTED_RUN: accepted.run_id,
    }


def newest_metadata(newest: AcceptedPartition | None) -> dict[str, Any]:
    """How far what consumers see reaches, whichever days were published now."""
    if newest is None:
        return {}
    return {
        "accepted up to": newest.day.isoformat(),
        "accepted at": dg.MetadataValue.timestamp(newest.accepted_at),
        "accepted by": newest.run_id,
    }


def content_version(accepted: Iterable[AcceptedPartition]) -> dg.DataVersion:
    """Equal where the same days hold the same rows, so that equal content makes nothing downstream
    outdated. Dagster takes one for all days of a step: where one of them differs, all do."""
    lines = sorted(f"{one.day} {one.row_count} {one.checksum}" for one in accepted)
    return dg.DataVersion(hashlib.sha256("\n".join(lines).encode()).hexdigest())
