"""Draws the curves: seconds of the processor over tables and over days, both axes logarithmic."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.scale.curves import Curve

_INCHES = (16.0, 14.0)
_DOTS_PER_INCH = 80


def draw(curves: Sequence[Curve], path: Path) -> None:
    """A row for each axis, a column for each area; the dotted line is what linear would be."""
    areas = [*dict.fromkeys(curve.area for curve in curves)]
    axes = [*dict.fromkeys(curve.axis for curve in curves)]
    figure = Figure(figsize=_INCHES)
    places = figure.subplots(len(axes), len(areas), squeeze=False)
    for row, axis in enumerate(axes):
        for column, area in enumerate(areas):
            own = [one for one in curves if (one.area, one.axis) == (area, axis)]
            _draw_area(places[row][column], own, f"{area}, over {axis}")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=_DOTS_PER_INCH)


def _draw_area(place: Axes, curves: Sequence[Curve], title: str) -> None:
    for curve in curves:
        sizes = [point.size for point in curve.points]
        place.plot(sizes, [point.seconds for point in curve.points], "o-", label=curve.look)
    if curves:
        _draw_linear(place, curves)
    place.set(xscale="log", yscale="log", title=title, ylabel="seconds of the processor")
    place.grid(visible=True, which="major", alpha=0.3)
    place.legend(fontsize="x-small", loc="upper center", bbox_to_anchor=(0.5, -0.08))
    sizes = [point.size for curve in curves[:1] for point in curve.points]
    place.set_xticks(sizes, [f"{size:,}" for size in sizes])
    place.minorticks_off()


def _draw_linear(place: Axes, curves: Sequence[Curve]) -> None:
    """Through the largest point of the slowest of them."""
    slowest = max(curves, key=lambda curve: curve.points[-1].seconds)
    end, sizes = slowest.points[-1], [point.size for point in slowest.points]
    place.plot(
        sizes, [end.seconds * size / end.size for size in sizes], ":", color="grey", label="linear"
    )
