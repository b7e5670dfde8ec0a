"""Delta adds whatever a commit names; these are the files that the publisher refuses."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from backfill_platform.domain.errors import StagingIncomplete
from backfill_platform.domain.publications import DataFile, Publication
from backfill_platform.publisher.replace_partitions import publish
from backfill_platform_tests.publisher.tables import Lake, append, days, frame, read_rows, rows_of


def refusal(lake: Lake, staging: Path, publication: Publication) -> str:
    """The message of the refusal; the target must not have changed."""
    append(lake.target, rows_of("live", days(9, 1)))
    before = (lake.version(), read_rows(lake.target))
    with pytest.raises(StagingIncomplete) as refused:
        publish(lake.target, staging, publication)
    assert (lake.version(), read_rows(lake.target)) == before
    return str(refused.value)


def test_a_missing_file_refuses(lake: Lake) -> None:
    staging = lake.stage(1, rows_of("run1", days(0, 2)))
    publication = lake.review(1, days(0, 2))
    (staging / publication.files[1].path).unlink()
    said = refusal(lake, staging, publication)
    assert f"{publication.files[1].path}: is missing" in said
    assert "Stage the run's chunks again" in said


def test_a_file_of_another_size_refuses(lake: Lake) -> None:
    staging = lake.stage(1, rows_of("run1", days(0, 2)))
    publication = lake.review(1, days(0, 2))
    file = staging / publication.files[0].path
    file.write_bytes(file.read_bytes()[:-1])
    measured = publication.files[0].size_bytes
    assert f"has {measured - 1} bytes and was measured with {measured}" in refusal(
        lake, staging, publication
    )


def test_a_file_of_a_day_that_is_not_named_refuses(lake: Lake) -> None:
    staging = lake.stage(1, rows_of("run1", days(0, 2)))
    publication = replace(lake.review(1, days(0, 1)), files=lake.review(1, days(0, 2)).files)
    assert "holds 2025-01-02, which this publication does not name" in refusal(
        lake, staging, publication
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda file: replace(file, path="../" + file.path), "is not a plain path"),
        (lambda file: replace(file, path="/" + file.path), "is not a plain path"),
        (lambda file: replace(file, path="_hidden/" + file.path), "is not a plain path"),
        (lambda file: replace(file, path="a%20b/" + file.path), "is not a plain path"),
        (lambda file: replace(file, path=file.path.split("/")[1]), "is not a plain path"),
        (lambda file: replace(file, path="x/" + file.path), "not lie in the folder of its day"),
    ],
    ids=["parent", "absolute", "hidden", "encoded", "no folder", "other folder"],
)
def test_a_wrong_path_refuses(
    lake: Lake, change: Callable[[DataFile], DataFile], problem: str
) -> None:
    staging = lake.stage(1, rows_of("run1", days(0, 1)))
    publication = lake.review(1, days(0, 1))
    changed = replace(publication, files=tuple(change(file) for file in publication.files))
    assert problem in refusal(lake, staging, changed)


def test_a_file_named_twice_refuses(lake: Lake) -> None:
    staging = lake.stage(1, rows_of("run1", days(0, 1)))
    publication = lake.review(1, days(0, 1))
    assert "is named 2 times" in refusal(
        lake, staging, replace(publication, files=publication.files * 2)
    )


def test_nulls_that_the_target_does_not_take_refuse(lake: Lake) -> None:
    staging = lake.stage(1, [])
    rows = frame(rows_of("run1", days(0, 1)))
    nulls = pa.array([None] * len(rows), pa.string())
    write_deltalake(staging, rows.set_column(0, "id", nulls), mode="append")
    said = refusal(lake, staging, lake.review(1, days(0, 1)))
    assert "has 2 nulls in 'id', where the target takes none" in said


def test_staging_of_another_shape_refuses(lake: Lake) -> None:
    rows = frame(rows_of("run1", days(0, 1))).drop_columns(["total"])
    write_deltalake(lake.staging(1), rows, partition_by="business_date")
    assert "column 'total' is None here, long in the target" in refusal(
        lake, lake.staging(1), lake.review(1, days(0, 1))
    )


def test_staging_that_was_cleaned_away_refuses(lake: Lake) -> None:
    lake.stage(1, rows_of("run1", days(0, 1)))
    publication = lake.review(1, days(0, 1))
    assert "there is no staging table" in refusal(lake, lake.staging(2), publication)


def test_staging_beside_its_target_refuses(lake: Lake, tmp_path: Path) -> None:
    lake.stage(1, rows_of("run1", days(0, 1)))
    publication = lake.review(1, days(0, 1))
    assert "does not lie below its target" in refusal(lake, tmp_path / "elsewhere", publication)
