"""Verb `landing`: lands generated case events, and spoils or heals a day to see a gate at work."""

from typing import Annotated

import typer
from rich.console import Console

from backfill_platform.domain.day_notation import parse_days
from backfill_platform.settings import load_settings


def landing(
    days: Annotated[str, typer.Option(help="2025-01-01..2025-01-31, both ends included.")],
    events_per_day: Annotated[int, typer.Option(min=1000, max=10_000_000)] = 2000,
    seed: Annotated[int, typer.Option(min=0)] = 7,
    poison: Annotated[str, typer.Option(help="Spoil the days that are landed, in this way.")] = "",
    heal: Annotated[bool, typer.Option("--heal", help="Take every poison away again.")] = False,
) -> None:
    """Land generated case events; with --poison spoil, with --heal mend the days instead."""
    try:
        wanted = parse_days(days)
    except ValueError as wrong:
        raise typer.BadParameter(str(wrong), param_hint="--days") from wrong
    from backfill_platform.enforcement.landing.files import land_days
    from backfill_platform.enforcement.landing.poison import POISONS, heal_day, poison_day

    if poison and poison not in POISONS:
        raise typer.BadParameter(f"use one of {', '.join(POISONS)}", param_hint="--poison")
    root, console = load_settings().landing, Console()
    if heal:
        healed = [path for day in wanted for path in heal_day(root, day)]
        console.print(f"{len(healed)} poisoned files were removed from {wanted}.")
    elif poison:
        for day in wanted:
            console.print(f"Poisoned: {poison_day(root, day, poison)}", soft_wrap=True)
    else:
        for part in wanted.ranges:
            land_days(root, part, seed=seed, events_per_day=events_per_day)
        console.print(f"Landed: {wanted}, {events_per_day:,} events a day.")
