"""Which judged runs may be published now, and what the others wait for.

It only asks what `publish.permission` asks again when somebody publishes: what is said here is no
permission, and a run that is no longer ready by then is refused there.
"""

from dataclasses import dataclass

from backfill_platform.domain.errors import BackfillError
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.runs import RunRecord
from backfill_platform.engine.loading import read_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.permission import refuse_unagreed


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    run_id: RunId
    table: str
    waits_for: str  # empty when nothing is in the way

    @property
    def is_ready(self) -> bool:
        return not self.waits_for


def look_at_publishable(platform: Platform, *, limit: int) -> tuple[Readiness, ...]:
    """The oldest first. Never what is only looked at, a candidate, or published by hand."""
    return tuple(
        _look(platform, record) for record in platform.ledger.publishable_runs(limit=limit)
    )


def _look(platform: Platform, record: RunRecord) -> Readiness:
    return Readiness(
        run_id=record.run_id, table=record.table, waits_for=_obstacle(platform, record)
    )


def _obstacle(platform: Platform, record: RunRecord) -> str:
    if record.table not in platform.catalog.tables:
        return f"{record.table}, which is not declared any more"
    try:
        manifest = read_manifest(record)
        refuse_unagreed(platform, manifest, manifest.target.partitions, by_hand=False)
    except BackfillError as refused:
        return str(refused)
    return ""
