"""Looks at the plan that Spark makes of a transform, when `backfill plan --examine` asks for it.

This starts Spark, which planning itself never does. Nothing is computed; a run does the same before
its first chunk.
"""

from typing import TYPE_CHECKING

from backfill_platform.cli.environment import enter_project
from backfill_platform.cli.figures import show_count
from backfill_platform.cli.output import make_console
from backfill_platform.settings import load_settings

if TYPE_CHECKING:
    from backfill_platform.domain.determinism import Sighting
    from backfill_platform.domain.intents import Intent


def examine(intent: "Intent") -> None:
    """Refuses what may give other rows next time; says what is left open as it is declared."""
    settings = load_settings()
    enter_project(settings)
    # After the environment is entered: Dagster and Spark read it when they are imported.
    from backfill_platform.engine.carry_out.examining import examine_draft
    from backfill_platform.engine.plan.planning import draft_manifest
    from backfill_platform.orchestration.local_runs import open_local_dagster

    console = make_console(stderr=True)
    with open_local_dagster(settings) as dagster:
        drafted = draft_manifest(dagster.platform, intent)
        with console.status("starting Spark, to look at its plan of the transform ..."):
            left_open = examine_draft(dagster.platform, dagster.spark, drafted)
    console.print(_sentence(left_open), soft_wrap=True)


def _sentence(left_open: tuple["Sighting", ...]) -> str:
    if not left_open:
        return "Examined: in Spark's plan, every order is total and nothing reads clock or chance."
    named = "; ".join(f"{one.where}: {one.expression}" for one in left_open)
    return f"Examined: {show_count(len(left_open), 'order')} left open, as declared: {named}"
