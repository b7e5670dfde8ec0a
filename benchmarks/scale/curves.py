"""Points become curves: what a look takes at growing sizes, and the power with which it grows.

Knows nothing of the platform, so that the process that starts the others stays small.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TOO_SHORT = 0.05  # seconds: below, a curve tells of the machine's noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    size: int  # along the axis
    taken: Mapping[str, Any]  # as `measuring.Taken` prints it

    @property
    def seconds(self) -> float:
        """Of the processor: on the wall others on the same cores are in it, too."""
        return self.taken["work_seconds"]

    @property
    def wall_seconds(self) -> float:
        return self.taken["wall_seconds"]

    @property
    def again_seconds(self) -> float | None:
        return self.taken["again_seconds"]

    @property
    def more_megabytes(self) -> float:
        """Beyond what programs, catalog and policy had taken before the call."""
        return self.taken["peak_megabytes"] - self.taken["before_megabytes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    area: str
    look: str
    axis: str  # "tables" or "days"
    points: tuple[Point, ...]

    @property
    def exponent(self) -> float | None:
        """1 is linear; nothing where even the largest is too short to tell."""
        if len(self.points) < 2 or self.points[-1].seconds < TOO_SHORT:
            return None
        return slope([(point.size, point.seconds) for point in self.points])


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Of the line that lies nearest to the logarithms."""
    places = [(math.log(size), math.log(taken)) for size, taken in points]
    middle_x = sum(x for x, _ in places) / len(places)
    middle_y = sum(y for _, y in places) / len(places)
    spread = sum((x - middle_x) ** 2 for x, _ in places)
    return sum((x - middle_x) * (y - middle_y) for x, y in places) / spread


def markdown(curves: Sequence[Curve]) -> Iterator[str]:
    """A table of curves along one axis."""
    axis, sizes = curves[0].axis, [point.size for point in curves[0].points]
    heads = [f"{size:,} {axis}" for size in sizes]
    cells = ["", *heads, "exponent", "on the wall", "again", "more memory"]
    yield f"| {' | '.join(cells)} |"
    yield f"|{'---|' * len(cells)}"
    for curve in curves:
        yield _line(curve)


def _line(curve: Curve) -> str:
    last = curve.points[-1]
    again = "" if last.again_seconds is None else said_seconds(last.again_seconds)
    cells = (
        curve.look,
        *(said_seconds(point.seconds) for point in curve.points),
        "" if curve.exponent is None else f"{curve.exponent:.2f}",
        said_seconds(last.wall_seconds),
        again,
        f"{last.more_megabytes:,.0f} MB",
    )
    return f"| {' | '.join(cells)} |"


def said_seconds(seconds: float) -> str:
    return f"{seconds:.3f} s" if seconds < 1 else f"{seconds:.2f} s"
