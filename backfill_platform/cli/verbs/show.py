"""Verb `show`: the manifest of a run, whole. Reads the ledger alone."""

import json

import typer
from rich.text import Text

from backfill_platform.cli.opening import find_run, open_ledger
from backfill_platform.cli.options import Json, Run
from backfill_platform.cli.output import show as show_parts
from backfill_platform.cli.plan_screen import plan_screen
from backfill_platform.domain.canonical import canonical_json
from backfill_platform.engine.loading import read_manifest


def show(run: Run, as_json: Json = False) -> None:
    """Show what a run is planned to do, as whoever agrees to it reads it."""
    record = find_run(open_ledger(), run)
    manifest = read_manifest(record)
    if as_json:
        document = {"digest": manifest.digest, "manifest": json.loads(record.manifest_json)}
        typer.echo(canonical_json(document))
    else:
        digest = Text.assemble(("digest    ", "bold"), manifest.digest)
        show_parts(plan_screen(manifest, state=record.state), digest)
