"""What may become of a target: short stories after which every reader has to see the same rows."""

from collections.abc import Mapping
from datetime import date

from deltalake import DeltaTable

from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.publisher.replace_partitions import publish
from backfill_platform.publisher.return_partitions import return_partitions
from backfill_platform_tests.publisher.tables import Lake, append, days, review_return, rows_of


def stage_and_publish(lake: Lake, number: int, named: PartitionSet) -> None:
    staging = lake.stage(number, rows_of(f"run{number}", named))
    publish(lake.target, staging, lake.review(number, named))


def take_back(lake: Lake, versions: Mapping[date, int], name: str = "back") -> None:
    return_partitions(lake.target, review_return(lake, versions, name), versions)


def replaced(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 4)))
    stage_and_publish(lake, 1, days(0, 3))
    stage_and_publish(lake, 2, days(1, 3))


def emptied(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 3)))
    publish(lake.target, lake.stage(1, rows_of("run1", days(0, 1))), lake.review(1, days(0, 2)))


def rolled_back(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 3)))
    stage_and_publish(lake, 1, days(0, 3))
    take_back(lake, dict.fromkeys(days(1, 2), 1))


def rolled_back_and_forth(lake: Lake) -> None:
    rolled_back(lake)
    take_back(lake, dict.fromkeys(days(1, 2), 2), "forth")


def compacted_before_publication(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 3)))
    append(lake.target, rows_of("more", days(0, 3)))
    staging = lake.stage(1, rows_of("run1", days(0, 2)))
    publication = lake.review(1, days(0, 2))
    DeltaTable(lake.target).optimize.compact()
    publish(lake.target, staging, publication)


def compacted_before_rollback(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 3)))
    stage_and_publish(lake, 1, days(0, 3))
    DeltaTable(lake.target).optimize.z_order(["id"])
    take_back(lake, dict.fromkeys(days(0, 2), 1))


def checkpointed(lake: Lake) -> None:
    """And the entries that the checkpoint stands for are gone, but for the newest."""
    rolled_back(lake)
    table = DeltaTable(lake.target)
    table.create_checkpoint()
    for version in range(table.version()):
        (lake.target / "_delta_log" / f"{version:020d}.json").unlink()
    stage_and_publish(lake, 2, days(2, 2))


def vacuumed(lake: Lake) -> None:
    rolled_back(lake)
    DeltaTable(lake.target).vacuum(
        retention_hours=0, enforce_retention_duration=False, dry_run=False, full=True
    )


LIVES = (
    replaced,
    emptied,
    rolled_back,
    rolled_back_and_forth,
    compacted_before_publication,
    compacted_before_rollback,
    checkpointed,
    vacuumed,
)
