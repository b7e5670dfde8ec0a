"""Holds what each published run was expected to take against what it took, from the ledger.

`python -m benchmarks.estimates` prints the table of docs/estimates.md for the ledger that the
settings name; it computes nothing and changes nothing.
"""

from collections.abc import Iterator

from rich.console import Console

from backfill_platform.domain.estimates import Span
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest, manifest_from_json
from backfill_platform.ledger.store import Ledger
from backfill_platform.settings import load_settings

HEADER = "| run | days | rows read | rows written: expected | written | seconds: expected | taken |"
SHOWN = frozenset({RunState.PUBLISHED, RunState.SUPERSEDED})


def lines(ledger: Ledger) -> Iterator[str]:
    yield HEADER
    yield "|---|---|---|---|---|---|---|"
    for record in reversed(ledger.runs(states=SHOWN, limit=1000)):
        yield _line(ledger, manifest_from_json(record.manifest_json))


def _line(ledger: Ledger, manifest: Manifest) -> str:
    chunks = ledger.chunks(manifest.run_id)
    written = sum(chunk.output_count or 0 for chunk in chunks)
    taken = sum(
        (chunk.finished_at - chunk.started_at).total_seconds()
        for chunk in chunks
        if chunk.finished_at is not None
    )
    guess = manifest.estimate
    cells = (
        f"{manifest.target.table} {manifest.transform.version} ({manifest.kind})",
        f"{len(manifest.target.partitions)}",
        f"{guess.rows_read:,}",
        _span(guess.rows_out),
        _found(written, guess.rows_out),
        _span(guess.seconds),
        _found(round(taken), guess.seconds),
    )
    return f"| {' | '.join(cells)} |"


def _span(span: Span) -> str:
    return f"{span.expected:,} ({span.low:,} to {span.high:,})"


def _found(found: int, span: Span) -> str:
    """In bold where it lies outside of what was said."""
    return f"{found:,}" if span.low <= found <= span.high else f"**{found:,}**"


if __name__ == "__main__":
    console = Console(soft_wrap=True)
    for line in lines(Ledger.open(load_settings().ledger_url)):
        console.print(line, markup=False, highlight=False)
