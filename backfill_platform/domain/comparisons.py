"""That somebody looked at what a run would change, and at exactly which staged chunks.

Invariant: a chunk that is staged again has not been compared
(test_a_chunk_that_is_staged_again_has_to_be_compared_again). Its newest claim is named, and not its
days alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.runs import RunEvent

COMPARED = "compared"  # in the details of an event


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Keys counted over all compared days; the figures by value stand in the evidence."""

    run_id: RunId
    actor: str
    chunks: Mapping[str, int]  # the days of each, and the token of the claim that staged them
    added: int
    removed: int
    changed: int
    unchanged: int
    summary_digest: str  # of the figures in the evidence


def name_chunks(chunks: Iterable[ChunkRecord]) -> dict[str, int]:
    return {str(chunk.days): chunk.fencing_token for chunk in chunks}


def compared_days(events: Iterable[RunEvent], chunks: Iterable[ChunkRecord]) -> frozenset[date]:
    """Of the chunks as they are staged now."""
    seen = {
        (days, token) for event in events for days, token in event.details.get(COMPARED, {}).items()
    }
    return frozenset(
        day
        for chunk in chunks
        if (str(chunk.days), chunk.fencing_token) in seen
        for day in chunk.days
    )
