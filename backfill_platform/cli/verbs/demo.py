"""Verb `demo`: the case study, told in the terminal by the same engine and Dagster as the UI's.

Sixty days were reported live with transform 2.4.1, which reckons deadlines in UTC. Thirty of them
are restated with 3.1.0: planned, staged, judged, compared, published in one commit, and then the
table below them. Running it again first puts the thirty days back as they were reported.
"""

from datetime import date
from typing import Annotated

import typer
from rich.console import Console

from backfill_platform.cli.environment import enter_project
from backfill_platform.domain.partitions import DayRange
from backfill_platform.settings import load_settings

LOADED = DayRange(date(2025, 1, 1), date(2025, 3, 2))
RESTATED = DayRange(date(2025, 1, 25), date(2025, 2, 24))


def demo(
    events_per_day: Annotated[int, typer.Option(min=1000, max=10_000_000)] = 2000,
    seed: Annotated[int, typer.Option(min=0)] = 7,
) -> None:
    """Load 60 days live, restate 30 of them, and show the numbers before and after."""
    settings = load_settings()
    enter_project(settings)
    # After the environment is entered: Dagster and Spark read it when they are imported.
    from backfill_platform.cli.story import Story, tell
    from backfill_platform.orchestration.local_runs import open_local_dagster

    console = Console()
    with open_local_dagster(settings) as dagster:
        story = Story(dagster=dagster, console=console, loaded=LOADED, restated=RESTATED)
        tell(story, events_per_day=events_per_day, seed=seed)
