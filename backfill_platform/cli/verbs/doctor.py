"""Verb `doctor`: is everything here that the platform needs, and what repairs what is not."""

import dataclasses
import json
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from backfill_platform.cli.checks import CHECKS, Finding, examine
from backfill_platform.settings import load_settings


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Check Python, Java, jars, disk, ports, ledger and a Delta round trip."""
    with Console(stderr=True).status("Looking; the round trip starts Spark once ..."):
        findings = tuple(examine(load_settings(), CHECKS))
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(finding) for finding in findings], indent=2))
    else:
        Console().print(_table(findings))
    if not all(finding.is_well for finding in findings):
        raise typer.Exit(1)


def _table(findings: Iterable[Finding]) -> Table:
    table = Table("", "what", "found, or how to repair it")
    for finding in findings:
        mark = "[green]✓[/]" if finding.is_well else "[red]✗[/]"
        table.add_row(mark, finding.subject, escape(finding.found))
    return table
