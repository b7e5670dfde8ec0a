"""Verb `watermark`: how far a table or a source has come, and what is missing. No JVM."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from backfill_platform.cli.figures import show_count, show_days, show_instant
from backfill_platform.cli.opening import open_everything, refuse_unknown_name
from backfill_platform.cli.options import Json, Table
from backfill_platform.cli.output import emit, show
from backfill_platform.cli.plan_screen import heading, sections
from backfill_platform.domain.plain import to_plain

if TYPE_CHECKING:
    from backfill_platform.engine.look.watermarks import Watermark


def watermark(table: Table, as_json: Json = False) -> None:
    """Show how far a table or source has come, its gaps and what was accepted last."""
    from backfill_platform.engine.look.watermarks import read_watermark

    platform = open_everything()
    refuse_unknown_name(table, (*platform.catalog.tables, *platform.catalog.sources))
    found = read_watermark(platform, table)
    if as_json:
        emit(to_plain(found))
        return
    state = "no data" if found.last is None else f"up to {found.last}"
    lines = [(label, Text(text)) for label, text in _lines(found)]
    show(heading(found.name, state), sections(lines))


def _lines(found: "Watermark") -> Iterator[tuple[str, str]]:
    yield "starts", f"{found.starts_on}, as declared"
    if found.first is None:
        return
    yield "holds", f"{found.first}..{found.last}: {show_count(found.partitions, 'partition')}"
    yield "rows", f"{found.rows:,}"
    gaps = found.gaps
    missing = f"{show_count(len(gaps), 'day')}: {show_days(gaps)}" if gaps else "none"
    yield "gaps", missing
    if found.version is not None:
        yield "version", f"{found.version}"
        accepted = "nothing; no run of the platform has published it"
        if found.last_accepted_run is not None:
            accepted = f"{show_instant(found.last_accepted_at)} by {found.last_accepted_run}"
        yield "accepted", accepted
