"""Draws the recorded ratios: a panel for each shape, a bar for each contestant."""

from collections.abc import Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.pipeline.recorded import ByShape
from benchmarks.pipeline.shapes import SHAPES
from benchmarks.pipeline.taken import Rounds, limit_of

_INCHES_WIDE, _INCHES_A_BAR, _INCHES_A_PANEL = 11.0, 0.32, 1.1
_DOTS_PER_INCH = 80
_OURS, _OTHERS = "tab:blue", "lightgrey"


def draw(recorded: ByShape, path: Path) -> None:
    heights = [_INCHES_A_PANEL + _INCHES_A_BAR * len(rounds) for rounds in recorded.values()]
    figure = Figure(figsize=(_INCHES_WIDE, sum(heights)))
    panels = figure.subplots(len(recorded), 1, squeeze=False, height_ratios=heights)[:, 0]
    for panel, (shape, rounds) in zip(panels, recorded.items(), strict=True):
        _draw_shape(panel, SHAPES[shape].said, rounds)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=_DOTS_PER_INCH)


def _draw_shape(panel: Axes, title: str, rounds: Mapping[str, Rounds]) -> None:
    times = {who: one.times(limit_of(who, rounds)) for who, one in rounds.items()}
    known = {who: found for who, found in times.items() if found}
    colours = [_OURS if who.startswith("platform") else _OTHERS for who in known]
    bars = panel.barh([*known], [*known.values()], color=colours)
    panel.bar_label(bars, fmt="%.2f", padding=3)
    panel.axvline(1, color="black", linewidth=0.8)
    panel.set(title=title, xlabel="times the plain script, as warm or as cold")
    panel.invert_yaxis()
    panel.margins(x=0.1)
