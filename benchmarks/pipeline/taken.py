"""What a contestant took: one round of it, and the rounds together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

COLD = "cold"
RAW, RAW_COLD = "raw, warm", f"raw, {COLD}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    who: str
    seconds: float
    cpu_seconds: float
    peak_gigabytes: float
    warehouse: Path
    waited: float = 0.0  # by Dagster's daemon, between its ticks; not among the seconds
    starting: float = 0.0  # of the seconds: until the processes of runs were at work
    is_whole: bool = True  # and neither reckoned up from some days nor of other data

    def times(self, factor: float) -> "Taken":
        return replace(
            self,
            seconds=self.seconds * factor,
            cpu_seconds=self.cpu_seconds * factor,
            starting=self.starting * factor,
            is_whole=False,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """Of one contestant at one shape, as they are kept."""

    who: str
    rounds: int
    least: float
    median: float
    cpu_seconds: float
    peak_gigabytes: float
    waited: float
    starting: float

    def times(self, limit: "Rounds | None") -> float | None:
        return self.median / limit.median if limit else None


def together(taken: Iterable[Taken]) -> dict[str, Rounds]:
    found: dict[str, list[Taken]] = {}
    for one in taken:
        found.setdefault(one.who, []).append(one)
    return {who: _together(who, own) for who, own in found.items()}


def _together(who: str, own: Sequence[Taken]) -> Rounds:
    return Rounds(
        who=who,
        rounds=len(own),
        least=min(one.seconds for one in own),
        median=median(one.seconds for one in own),
        cpu_seconds=median(one.cpu_seconds for one in own),
        peak_gigabytes=max(one.peak_gigabytes for one in own),
        waited=median(one.waited for one in own),
        starting=median(one.starting for one in own),
    )


def limit_of(who: str, rounds: Mapping[str, Rounds]) -> Rounds | None:
    """The plain script, as warm or cold as whoever is compared with it."""
    return rounds.get(RAW_COLD if who.endswith(COLD) else RAW)


def read_rounds(kept: Iterable[Mapping[str, Any]]) -> dict[str, Rounds]:
    return {one["who"]: Rounds(**one) for one in kept}
