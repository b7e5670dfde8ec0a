"""Verb `compare`: what a staged run would change, key by key, before it is seen. Needs Spark, and
none with `--show`, which tells again what was kept."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from backfill_platform.cli.environment import enter_project
from backfill_platform.cli.opening import find_run, open_everything, refuse_unknown_name
from backfill_platform.cli.options import Json, Run
from backfill_platform.cli.output import emit, make_console, show, show_copied
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.plain import to_plain
from backfill_platform.settings import load_settings

if TYPE_CHECKING:
    from backfill_platform.domain.tables import TableSpec
    from backfill_platform.engine.platform import Platform
    from backfill_platform.engine.publish.comparisons import KeptComparison

LARGEST_SHOWN = 10


def compare(
    run: Run,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Count by it; may be repeated. The partition, and what the table declares, when "
            "nothing is said.",
        ),
    ] = None,
    watch: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE,...",
            help="Rows to be shown whether they change or not, by (a part of) their key; may be "
            "repeated.",
        ),
    ] = None,
    show_kept: Annotated[
        bool, typer.Option("--show", help="The newest comparison again, without Spark.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tell what a run would change, by key, column and value, and keep that it was looked at."""
    if not show_kept:
        _compare_now(run, by or [], watch or [], as_json=as_json)
    elif by or watch:
        raise typer.BadParameter(
            "it shows what was compared, so it takes neither --by nor --watch", param_hint="--show"
        )
    else:
        _show_kept(run, as_json=as_json)


def _compare_now(run: str, by: list[str], watch: list[str], *, as_json: bool) -> None:
    settings = load_settings()
    enter_project(settings)
    # After the environment is entered: Dagster and Spark read it when they are imported.
    from backfill_platform.engine.publish.comparing import compare_run
    from backfill_platform.engine.publish.comparisons import staged_chunks
    from backfill_platform.orchestration.local_runs import open_local_dagster

    with open_local_dagster(settings) as dagster:
        platform = dagster.platform
        manifest = _manifest(platform, run)
        columns, watched = _asked(platform, manifest, by, watch)
        staged_chunks(platform, manifest.run_id)  # before Spark is started for nothing
        with make_console(stderr=True).status("comparing staged with accepted rows ..."):
            kept = compare_run(
                platform, dagster.spark, manifest.run_id, by=columns, watched=watched
            )
        _tell(platform, kept, as_json=as_json)
    if kept.is_recorded and not as_json:
        show("It is kept in the run's evidence that these days were compared.")


def _show_kept(run: str, *, as_json: bool) -> None:
    from backfill_platform.engine.publish.comparisons import newest_comparison, uncompared_days

    platform = open_everything()
    manifest = _manifest(platform, run)
    kept = newest_comparison(platform, manifest.run_id)
    _tell(platform, kept, as_json=as_json)
    left = uncompared_days(platform, manifest)
    if left and not as_json:
        show(f"Not compared as it is staged now: {left}; `backfill compare {manifest.run_id}`.")


def _tell(platform: "Platform", kept: "KeptComparison", *, as_json: bool) -> None:
    from backfill_platform.cli.diff_screen import diff_screen, query_lines
    from backfill_platform.engine.publish.sampled_rows import largest_rows

    largest = largest_rows(platform, kept, LARGEST_SHOWN)
    if as_json:
        emit(
            {
                **to_plain(kept.differences),
                "digest": kept.differences.digest,
                "path": str(kept.path),
                "version": kept.version,
                "is_recorded": kept.is_recorded,
                "largest": None if largest is None else to_plain(largest),
            }
        )
        return
    show(diff_screen(kept, largest))
    show_copied(query_lines(kept))


def _asked(
    platform: "Platform", manifest: Manifest, by: Iterable[str], watch: Iterable[str]
) -> tuple[tuple[str, ...], tuple[dict[str, str], ...]]:
    table = manifest.target.table
    columns = tuple(by)
    for column in columns:
        refuse_unknown_name(column, platform.catalog.contracts[table].column_names, what="--by")
    spec = platform.catalog.tables[table]
    return columns, tuple(watched_key(text, spec) for text in watch)


def watched_key(text: str, spec: "TableSpec") -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",")]
    if not all(name and sign and value for name, sign, value in pairs):
        raise typer.BadParameter(
            f"{text!r} names no key; write column=value, and commas between several",
            param_hint="--watch",
        )
    for name, _, _ in pairs:
        refuse_unknown_name(name, spec.keys, what="--watch")
    return {name: value for name, _, value in pairs}


def _manifest(platform: "Platform", run: str) -> Manifest:
    from backfill_platform.engine.loading import read_manifest

    return read_manifest(find_run(platform.ledger, run))
