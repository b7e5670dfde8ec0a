"""Makes this process one in which Spark and Dagster work: finds Java, enters the environment."""

from backfill_platform.lakehouse.class_archive import (
    class_archive,
    keeps_classes,
    make_class_archive,
)
from backfill_platform.lakehouse.jars import jar_paths
from backfill_platform.lakehouse.java import Java, find_java, home_of, provide_java_home
from backfill_platform.lakehouse.session import session_config
from backfill_platform.lakehouse.submitting import spark_home
from backfill_platform.settings import Settings, child_environment, enter_environment


def enter_project(settings: Settings) -> dict[str, str]:
    """Returns what child processes need; this process has it from now on."""
    java_home = provide_java_home(_java(settings), settings.cache_dir)
    environment = child_environment(settings, java_home=java_home, spark_home=spark_home())
    enter_environment(environment)
    return environment


def prepare_spark(settings: Settings) -> None:
    """Once for this Java and this Spark, in a process that has entered the project: whatever starts
    Spark from then on starts it sooner."""
    java = _java(settings)
    archive = class_archive(java.executable, home_of(java, settings.cache_dir))
    if archive.is_file() or not keeps_classes(java.executable):
        return
    make_class_archive(archive, session_config(jar_paths(settings.cache_dir)))
    provide_java_home(java, settings.cache_dir)


def _java(settings: Settings) -> Java:
    return find_java(java_home=settings.java_home, search_path=settings.search_path)
