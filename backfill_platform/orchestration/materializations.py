"""What a materialization of a partition says, whoever reports it.

A Dagster run that publishes says it of its chunk, in `assets`; what happened elsewhere is told from
the ledger, in `following`. Both say the same of the same partition, or else following would never
come to an end. What the plan says and where the run stands are told beside it.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import dagster as dg

from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.engine.carry_out.pacing import cost_of_rows
from backfill_platform.engine.look.status import seconds_of

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


def staging_metadata(manifest: Manifest, chunks: Iterable[ChunkRecord]) -> dict[str, Any]:
    """What computing these chunks took, as numbers: Dagster plots them."""
    counted = tuple(chunks)
    seconds = sum(seconds_of(chunk) or 0.0 for chunk in counted)
    rows_read = sum(chunk.input_count or 0 for chunk in counted)
    rows_out = sum(chunk.output_count or 0 for chunk in counted)
    return {
        "rows read": rows_read,
        "seconds of computing": round(seconds, 3),
        "rows a second": round(rows_out / seconds, 1) if seconds else 0.0,
        "cost in dollars": float(round(cost_of_rows(manifest, rows_read), 6)),
    }


def staged_metadata(
    measured: PartitionMeasurement, before: AcceptedPartition | None
) -> dict[str, Any]:
    """Of one day, against what consumers see of it now."""
    rows_before = before.row_count if before else 0
    return {
        ROW_COUNT: measured.row_count,
        CHECKSUM: measured.checksum,
        "rows accepted now": rows_before,
        "rows more or fewer": measured.row_count - rows_before,
    }


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
