"""A comparison that nobody had to make: for tests of what follows from one."""

from backfill_platform.domain.changes import ChangeCount, Differences, RunDifferences
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.comparisons import KeptComparison

TOTALS = ChangeCount(value="", added=1, removed=2, changed=3, unchanged=4)
FOUND = Differences(
    totals=TOTALS,
    by_column={"amount": 3},
    dimensions=(),
    drift=(),
    watched=(),
    largest=6,
    random=6,
    not_kept=0,
)


def kept_comparison(
    platform: Platform, manifest: Manifest, found: Differences = FOUND
) -> KeptComparison:
    target = manifest.target
    return KeptComparison(
        differences=RunDifferences(
            run_id=manifest.run_id,
            table=target.table,
            base_version=target.base_version,
            days=target.partitions,
            changed_days=target.partitions,
            equal_days=None,
            equal_rows=0,
            added_columns=(),
            removed_columns=(),
            found=found,
        ),
        path=platform.warehouse.diff_path(target.table, manifest.run_id),
        version=0,
        is_recorded=True,
    )
