"""The parts of a chunk that are computed: all of it as a rule, and nothing of days that are left
as they are accepted. Where there is no part, Spark is not even started.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pyspark.sql import SparkSession

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.transforms import Frames
from backfill_platform.engine.carry_out.frames import chunk_frames
from backfill_platform.engine.platform import Platform
from backfill_platform.executor.protecting import protect_frames

StartSpark = Callable[[], SparkSession]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    days: DayRange
    frames: Frames  # what these days may read, protected


def computed_parts(
    platform: Platform,
    start_spark: StartSpark,
    manifest: Manifest,
    days: DayRange,
    protection: Protection,
) -> tuple[Part, ...]:
    return tuple(
        Part(
            days=part,
            frames=protect_frames(
                chunk_frames(platform, start_spark(), manifest, part), protection
            ),
        )
        for part in manifest.computed_parts(days)
    )


def session_of(parts: Iterable[Part]) -> SparkSession | None:
    """The one that their frames were read by; none where nothing is computed."""
    frames = (frame for part in parts for frame in part.frames.inputs.values())
    return next((frame.sparkSession for frame in frames), None)
