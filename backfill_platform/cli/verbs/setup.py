"""Verb `setup`: brings what is missing and leaves alone what is there."""

from rich.console import Console

from backfill_platform.cli.environment import enter_project, prepare_spark
from backfill_platform.domain.errors import SetupIncomplete
from backfill_platform.lakehouse.jars import fetch_jars
from backfill_platform.settings import load_settings


def setup() -> None:
    """Fetch the locked jars, prepare Spark's classes and migrate the ledger."""
    from backfill_platform.ledger.migrate import migrate

    settings = load_settings()
    enter_project(settings)
    console = Console(stderr=True)
    with console.status("Looking at the jars; what is missing is fetched once ..."):
        fetch_jars(settings.cache_dir)
    with console.status("Looking at Spark's classes; they are prepared once for this Java ..."):
        try:
            prepare_spark(settings)
        except SetupIncomplete as refusal:
            console.print(f"{refusal}. Spark works, and starts some seconds later.", markup=False)
    settings.home.mkdir(parents=True, exist_ok=True)
    settings.dagster_storage.mkdir(parents=True, exist_ok=True)
    migrate(settings.ledger_url)
