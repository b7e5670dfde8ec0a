"""Runs the contest at one shape, and prints what each took, with ratios to the plain script.

    python -m benchmarks.pipeline few-big --rounds 3 --only raw,ours

Each round of the warm contestants begins with a home of its own, and the first of them only warms
up. Minutes for each contestant and round; nothing else should run meanwhile.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from backfill_platform.enforcement.landing.files import land_days
from benchmarks.pipeline.contest import (
    OUR_ASSETS,
    PLAIN_ASSETS,
    Contest,
    Spark,
    Taken,
    launched,
    our_dagster,
    plain_dagster,
    raw,
    warm_spark,
)
from benchmarks.pipeline.equality import refuse_different
from benchmarks.pipeline.shapes import SHAPES

REASON = {"backfill/reason": "a benchmark"}

Contestant = Callable[[Contest], Iterator[Taken]]


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.pipeline")
    asked.add_argument("shape", choices=SHAPES)
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--only", default=",".join(CONTESTANTS), help="names, with commas between")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="backfill-bench-") as folder:
        contest = Contest(shape=SHAPES[given.shape], folder=Path(folder), rounds=given.rounds)
        seed, events = 1, contest.shape.events_a_day
        land_days(contest.landing, contest.shape.range, seed=seed, events_per_day=events)
        _run(contest, given.only.split(","))


def _run(contest: Contest, names: Iterable[str]) -> None:
    console, taken = Console(), list[Taken]()
    for name in names:
        for one in CONTESTANTS[name](contest):
            console.print(_line(one), highlight=False)
            taken.append(one)
    refuse_different([one for one in taken if one.is_whole])
    console.print(_table(contest, taken))


def _line(taken: Taken) -> str:
    return (
        f"{taken.who}: {taken.seconds:.1f} s, of them {taken.starting:.1f} s until runs were at "
        f"work; {taken.waited:.0f} s more between Dagster's ticks"
    )


def _table(contest: Contest, taken: Iterable[Taken]) -> Table:
    rounds: dict[str, list[Taken]] = {}
    for one in taken:
        rounds.setdefault(one.who, []).append(one)
    table = Table(title=contest.shape.said)
    for title in ("", "least", "median", "times raw", "processor", "memory", "waited"):
        table.add_column(title, justify="right" if title else "left")
    for who, own in rounds.items():
        table.add_row(who, *_cells(own, rounds))
    return table


def _cells(own: list[Taken], rounds: Mapping[str, list[Taken]]) -> Iterator[str]:
    seconds = median(one.seconds for one in own)
    limit = rounds.get("raw, cold" if own[0].who.endswith("cold") else "raw, warm")
    yield f"{min(one.seconds for one in own):.1f} s"
    yield f"{seconds:.1f} s"
    yield f"{seconds / median(one.seconds for one in limit):.2f}" if limit else ""
    yield f"{median(one.cpu_seconds for one in own):.0f} s"
    yield f"{max(one.peak_gigabytes for one in own):.1f} GB"
    yield f"{median(one.waited for one in own):.0f} s"


def _raw_warm(contest: Contest) -> Iterator[Taken]:
    yield from raw("raw, warm", contest, rounds=contest.rounds + 1)


def _raw_cold(contest: Contest) -> Iterator[Taken]:
    for number in range(contest.rounds):
        yield from raw("raw, cold", contest, rounds=1, folder=f"raw-cold-{number}")


def _day_after_day(contest: Contest) -> Iterator[Taken]:
    yield from raw("a loop over days, warm", contest, rounds=2, by_day=True, folder="by-day")


def _ours(contest: Contest) -> Iterator[Taken]:
    with warm_spark(contest.folder) as spark:
        yield from islice(
            _our_rounds("platform, warm", contest, contest.rounds + 1, spark), 1, None
        )


def _ours_cold(contest: Contest) -> Iterator[Taken]:
    yield from _our_rounds("platform, cold", contest, contest.rounds, None)


def _our_rounds(who: str, contest: Contest, rounds: int, spark: Spark | None) -> Iterator[Taken]:
    for number in range(rounds):
        with our_dagster(contest.home(who, number), contest.landing, spark) as place:
            yield launched(who, place, OUR_ASSETS, contest.shape.range, REASON)


def _plain(contest: Contest) -> Iterator[Taken]:
    with warm_spark(contest.folder) as spark:
        own = _plain_rounds("plain Dagster, one run, warm", contest, contest.rounds + 1, spark)
        yield from islice(own, 1, None)


def _plain_cold(contest: Contest) -> Iterator[Taken]:
    yield from _plain_rounds("plain Dagster, one run, cold", contest, contest.rounds, None)


def _plain_rounds(who: str, contest: Contest, rounds: int, spark: Spark | None) -> Iterator[Taken]:
    for number in range(rounds):
        home = contest.home(who, number)
        with plain_dagster(home, contest.landing, spark, "range_run") as place:
            yield launched(who, place, PLAIN_ASSETS, contest.shape.range, {})


def _run_per_day(contest: Contest) -> Iterator[Taken]:
    """Of a few days, reckoned up to all: it would take an hour."""
    who = f"plain Dagster, a run per day (of {len(contest.few_days)} days)"
    home = contest.home(who, 0)
    with plain_dagster(home, contest.landing, None, "run_per_day") as place:
        found = launched(who, place, PLAIN_ASSETS, contest.few_days, {})
    yield found.times(contest.shape.days / len(contest.few_days))


CONTESTANTS: Mapping[str, Contestant] = {
    "raw-cold": _raw_cold,
    "raw": _raw_warm,
    "by-day": _day_after_day,
    "plain-cold": _plain_cold,
    "plain": _plain,
    "ours-cold": _ours_cold,
    "ours": _ours,
    "run-per-day": _run_per_day,
}


main()
