"""Makes this process one in which Spark and Dagster work: finds Java, enters the environment."""

from backfill_platform.lakehouse.java import find_java, provide_java_home
from backfill_platform.settings import Settings, child_environment, enter_environment


def enter_project(settings: Settings) -> dict[str, str]:
    """Returns what child processes need; this process has it from now on."""
    java = find_java(java_home=settings.java_home, search_path=settings.search_path)
    java_home = provide_java_home(java, settings.cache_dir)
    environment = child_environment(settings, java_home=java_home)
    enter_environment(environment)
    return environment
