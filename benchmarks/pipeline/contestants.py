"""Everybody who takes part, by name. A generator yields a `Taken` for each round that counts."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from backfill_platform.orchestration import tags
from benchmarks.pipeline.contest import (
    NOBODY,
    OUR_ASSETS,
    PLAIN_ASSETS,
    WARMING,
    Contest,
    Spark,
    launched,
    our_dagster,
    plain_dagster,
    raw,
    warm_spark,
)
from benchmarks.pipeline.restated import restated
from benchmarks.pipeline.shapes import LITTLE_CHANGED, MANY_SMALL, Shape
from benchmarks.pipeline.taken import RAW, RAW_COLD, Taken

REASON = {tags.REASON: "a benchmark"}

_IF_ASKED = {"again", "raw-cold-prepared"}  # only where they are named

Contestant = Callable[[Contest], Iterator[Taken]]


def contestants_at(shape: Shape) -> tuple[str, ...]:
    """Where little changes, nobody else is asked what all of it takes; in chunks it is done where
    there are days enough; and a loop over very many days is not waited for."""
    if shape == LITTLE_CHANGED:
        return ("raw", "again")
    left_out = {"by-day", "plain-cold"} if shape == MANY_SMALL else {"chunks"}
    return tuple(name for name in CONTESTANTS if name not in left_out | _IF_ASKED)


def _raw_warm(contest: Contest) -> Iterator[Taken]:
    yield from raw(RAW, contest, rounds=contest.rounds)


def _raw_written_alike(contest: Contest) -> Iterator[Taken]:
    who = "raw, written as the platform writes, warm"
    yield from raw(
        who, contest, rounds=contest.rounds, folder="raw-alike", options=["--writes-alike"]
    )


def _raw_cold(contest: Contest) -> Iterator[Taken]:
    yield from _raw_cold_rounds(RAW_COLD, contest)


def _raw_cold_prepared(contest: Contest) -> Iterator[Taken]:
    who = "raw with the platform's prepared classes, cold"
    yield from _raw_cold_rounds(who, contest, "--classes-prepared")


def _raw_cold_rounds(who: str, contest: Contest, *options: str) -> Iterator[Taken]:
    for number in range(contest.rounds):
        folder = "-".join(["raw-cold", str(number), *options])
        yield from raw(who, contest, rounds=1, warming=0, folder=folder, options=options)


def _day_after_day(contest: Contest) -> Iterator[Taken]:
    """Once: it takes minutes."""
    who = "a loop over days, warm"
    yield from raw(who, contest, rounds=1, warming=1, folder="by-day", options=["--by-day"])


def _ours(contest: Contest) -> Iterator[Taken]:
    with warm_spark(contest.folder) as spark:
        rounds = _our_rounds("platform, warm", contest, WARMING + contest.rounds, spark)
        yield from islice(rounds, WARMING, None)


def _ours_cold(contest: Contest) -> Iterator[Taken]:
    yield from _our_rounds("platform, cold", contest, contest.rounds, None)


def _our_rounds(who: str, contest: Contest, rounds: int, spark: Spark | None) -> Iterator[Taken]:
    """Each in a home of its own: done again in the same, it would be a restatement."""
    for number in range(rounds):
        with our_dagster(contest.home(who, number), contest.landing, spark) as place:
            yield launched(who, place, OUR_ASSETS, contest.shape.range, REASON)


def _in_chunks(contest: Contest) -> Iterator[Taken]:
    """Under policies that allow ever fewer partitions at once."""
    days = contest.shape.days
    with warm_spark(contest.folder) as spark:
        for number, size in enumerate((*[days] * WARMING, days, days // 3, days // 9)):
            policy = contest.folder / f"at-most-{size}.yaml"
            allowed = f"limits: {{max_partitions_at_once: {size}}}\n"
            policy.write_text(NOBODY.read_text(encoding="utf-8") + allowed, encoding="utf-8")
            home = contest.home("in-chunks", number)
            with our_dagster(home, contest.landing, spark, policy) as place:
                who = f"platform in {days // size} chunks, warm"
                found = launched(who, place, OUR_ASSETS, contest.shape.range, REASON)
            if number >= WARMING:
                yield found


def _again(contest: Contest) -> Iterator[Taken]:
    with warm_spark(contest.folder) as spark:
        yield from restated(contest, spark, REASON)


def _plain(contest: Contest) -> Iterator[Taken]:
    with warm_spark(contest.folder) as spark:
        rounds = WARMING + contest.rounds
        own = _plain_rounds("plain Dagster, one run, warm", contest, rounds, spark)
        yield from islice(own, WARMING, None)


def _plain_cold(contest: Contest) -> Iterator[Taken]:
    yield from _plain_rounds("plain Dagster, one run, cold", contest, contest.rounds, None)


def _plain_rounds(who: str, contest: Contest, rounds: int, spark: Spark | None) -> Iterator[Taken]:
    with plain_dagster(contest.home(who, 0), contest.landing, spark, "range_run") as place:
        for _ in range(rounds):
            yield launched(who, place, PLAIN_ASSETS, contest.shape.range, {})


def _run_per_day(contest: Contest) -> Iterator[Taken]:
    """Of a few days and once, reckoned up to all: it would take an hour."""
    who = f"plain Dagster, a run per day (of {len(contest.few_days)}), cold"
    home = contest.home("run-per-day", 0)
    with plain_dagster(home, contest.landing, None, "run_per_day") as place:
        found = launched(who, place, PLAIN_ASSETS, contest.few_days, {})
    yield found.times(contest.shape.days / len(contest.few_days))


CONTESTANTS: Mapping[str, Contestant] = {
    "raw-cold": _raw_cold,
    "raw-cold-prepared": _raw_cold_prepared,
    "raw": _raw_warm,
    "raw-alike": _raw_written_alike,
    "by-day": _day_after_day,
    "plain-cold": _plain_cold,
    "plain": _plain,
    "ours-cold": _ours_cold,
    "ours": _ours,
    "chunks": _in_chunks,
    "again": _again,
    "run-per-day": _run_per_day,
}
