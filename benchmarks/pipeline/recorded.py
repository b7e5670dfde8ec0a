"""The figures that were recorded last, and what has become slower since.

Seconds are those of a machine and an hour; ratios to the plain script are compared.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from benchmarks.pipeline.taken import Rounds, limit_of, read_rounds

RECORDED = Path(__file__).with_name("recorded.json")
_ALLOWED = 1.2  # times what was recorded: on two cores a round differs from the next by a tenth

ByShape = dict[str, dict[str, Rounds]]


def read_recorded(path: Path = RECORDED) -> ByShape:
    if not path.exists():
        return {}
    kept = json.loads(path.read_text(encoding="utf-8"))
    return {shape: read_rounds(rounds) for shape, rounds in kept.items()}


def record(shape: str, rounds: Mapping[str, Rounds], path: Path = RECORDED) -> None:
    """In place of what was recorded of the same; contestants that were not asked keep theirs."""
    recorded = read_recorded(path)
    recorded[shape] = recorded.get(shape, {}) | dict(rounds)
    kept = {name: [asdict(one) for one in own.values()] for name, own in recorded.items()}
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def slower_than_recorded(
    rounds: Mapping[str, Rounds], recorded: Mapping[str, Rounds]
) -> Iterator[str]:
    for who, found in rounds.items():
        now, then = (_ratio(who, among) for among in (rounds, recorded))
        if now and then and now > then * _ALLOWED:
            yield f"{found.who}: {now:.2f} times the plain script; {then:.2f} was recorded"


def _ratio(who: str, rounds: Mapping[str, Rounds]) -> float | None:
    own = rounds.get(who)
    return own.times(limit_of(who, rounds)) if own else None
