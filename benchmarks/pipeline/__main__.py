"""Runs the contest, prints what each took with ratios to the plain script, and compares the ratios
with those that were recorded last.

    python -m benchmarks.pipeline few-big --rounds 3 --only raw,ours

A warm contestant's first rounds only warm up. Minutes for each contestant and round, and an hour
and a half for all of it; nothing else should run meanwhile.
"""

import argparse
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from backfill_platform.enforcement.landing.files import land_days
from benchmarks.pipeline.contest import Contest
from benchmarks.pipeline.contestants import CONTESTANTS, contestants_at
from benchmarks.pipeline.equality import refuse_different
from benchmarks.pipeline.recorded import read_recorded, record, slower_than_recorded
from benchmarks.pipeline.shapes import FEW_BIG, LITTLE_CHANGED, MANY_SMALL, SHAPES, Shape
from benchmarks.pipeline.taken import Rounds, Taken, limit_of, together

_USUAL = (FEW_BIG, MANY_SMALL, LITTLE_CHANGED)
_WIDE = 140  # also where it goes into a file
_IMAGE = Path(__file__).parents[2] / "docs" / "images" / "pipeline.png"


def main() -> None:
    given = _arguments()
    # Whoever ends it, by Ctrl-C or otherwise, ends what it has started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    console = Console(soft_wrap=True, width=_WIDE)
    shapes = [SHAPES[name] for name in given.shapes] or _USUAL
    slower: list[str] = []
    for shape in shapes:
        names = given.only.split(",") if given.only else contestants_at(shape)
        rounds = together(_contest(console, shape, names, given.rounds))
        console.print(_table(shape, rounds))
        slower += slower_than_recorded(rounds, read_recorded().get(shape.name, {}))
        if given.record:
            record(shape.name, rounds)
    if given.record:
        # Here, because drawing is for people who publish figures, and needs a library of its own.
        from benchmarks.pipeline.plot import draw

        draw(read_recorded(), _IMAGE)
    elif slower:
        console.print("Slower than recorded; find out why, or record it (--record):", *slower)
        sys.exit(1)


def _arguments() -> argparse.Namespace:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.pipeline")
    asked.add_argument("shapes", nargs="*", metavar="SHAPE", help=", ".join(SHAPES))
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--only", help=f"some of {','.join(CONTESTANTS)}")
    asked.add_argument("--record", action="store_true", help="as what later rounds are held to")
    return asked.parse_args()


def _contest(console: Console, shape: Shape, names: Iterable[str], rounds: int) -> list[Taken]:
    with tempfile.TemporaryDirectory(prefix="backfill-bench-") as folder:
        contest = Contest(shape=shape, folder=Path(folder), rounds=rounds)
        land_days(contest.landing, shape.range, seed=1, events_per_day=shape.events_a_day)
        taken = list[Taken]()
        for name in names:
            for one in CONTESTANTS[name](contest):
                console.print(_line(one), highlight=False)
                taken.append(one)
        refuse_different([*{one.who: one for one in taken if one.is_whole}.values()])
    return taken


def _line(taken: Taken) -> str:
    return (
        f"{taken.who}: {taken.seconds:.1f} s, of them {taken.starting:.1f} s until runs were at "
        f"work; {taken.waited:.0f} s more between Dagster's ticks"
    )


def _table(shape: Shape, rounds: Mapping[str, Rounds]) -> Table:
    table = Table(title=shape.said)
    for title in ("", "least", "median", "times raw", "processor", "memory", "waited"):
        table.add_column(title, justify="right" if title else "left", no_wrap=True)
    for who, own in rounds.items():
        table.add_row(who, *_cells(own, own.times(limit_of(who, rounds))))
    return table


def _cells(own: Rounds, times: float | None) -> Iterator[str]:
    yield f"{own.least:.1f} s"
    yield f"{own.median:.1f} s"
    yield f"{times:.2f}" if times else ""
    yield f"{own.cpu_seconds:.0f} s"
    yield f"{own.peak_gigabytes:.1f} GB"
    yield f"{own.waited:.0f} s"


main()
