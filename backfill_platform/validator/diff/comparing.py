"""Compares both sides of a run: joins once, takes the figures, draws samples, writes the table.

A handful of Spark actions for a run, however many partitions it has. Which rows are the sides, and
what follows from the figures, is the engine's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.changes import Differences
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.privacy import Protection
from backfill_platform.validator.diff.figures import (
    changed_by_column,
    count_by_dimension,
    drift_of,
    greatest_differences,
    overall_figures,
    side_totals,
    watched_keys,
)
from backfill_platform.validator.diff.rows import (
    as_unchanged,
    differing_rows,
    join_sides,
    matches,
)
from backfill_platform.validator.diff.samples import draw_samples, with_movement, with_samples
from backfill_platform.validator.diff.shape import Shape
from backfill_platform.validator.diff.table import write_table, written_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """In the same columns."""

    before: DataFrame
    after: DataFrame
    equal: DataFrame  # staged rows of partitions that equal the accepted ones; only asked for keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    run_id: RunId
    base_version: int | None
    seed: str  # the manifest's digest
    dimensions: tuple[str, ...]
    watched: tuple[Mapping[str, str], ...]


def compare_sides(
    sides: Sides, shape: Shape, question: Question, *, protection: Protection, path: Path
) -> Differences:
    joined = join_sides(sides.before, sides.after, shape, protection)
    if question.watched:
        asked = sides.equal.where(F.size(matches(question.watched)) > 0)
        joined = joined.unionByName(as_unchanged(asked, shape))
    rows = differing_rows(joined, shape, question.watched, question.seed).persist()
    try:
        return _compare(rows, sides, shape, question, path)
    finally:
        rows.unpersist()


def _compare(
    rows: DataFrame, sides: Sides, shape: Shape, question: Question, path: Path
) -> Differences:
    """The first action joins and keeps what differs; the others read that."""
    overall = overall_figures(rows, shape)
    totals, dimensions = count_by_dimension(rows, sides.after, shape, question.dimensions)
    moved = with_movement(rows, greatest_differences(overall, shape))
    drawn = draw_samples(moved)
    written = written_rows(
        with_samples(moved, drawn),
        shape,
        run_id=question.run_id,
        base_version=question.base_version,
    )
    write_table(written, path, question.run_id)
    return Differences(
        totals=totals,
        by_column=changed_by_column(overall, shape),
        dimensions=dimensions,
        drift=drift_of(overall, side_totals(sides.before, sides.after, shape), shape),
        watched=watched_keys(rows, question.watched),
        largest=len(drawn.largest),
        random=len(drawn.random),
        not_kept=overall["not_kept"],
    )
