"""How gates put figures and causes into words: the first causes are named, the rest is counted."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from backfill_platform.domain.measurements import Figure
from backfill_platform.domain.quality import Tolerance
from backfill_platform.domain.verdicts import JudgedFigure

CAUSES_SAID = 5


def said(figure: Figure) -> str:
    """With separators of thousands, and never as 1E+3."""
    return f"{figure:,f}" if isinstance(figure, Decimal) else f"{figure:,}"


def rows(count: int) -> str:
    return counted_in("row", count)


def counted_in(noun: str, count: int) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def percent(share: Decimal) -> str:
    """As people declared it: 20 and not 20.00."""
    return f"{share.normalize():,f} %"


def named(measure: str, value: str) -> str:
    return f"{measure} of {value}" if value else measure


def listed(figures: Mapping[str, Figure]) -> str:
    return ", ".join(f"{name}={said(figure)}" for name, figure in figures.items())


def joined(causes: Sequence[str]) -> str:
    left_over = len(causes) - CAUSES_SAID
    rest = [f"and {left_over:,} more"] if left_over > 0 else []
    return "; ".join([*causes[:CAUSES_SAID], *rest])


def with_remedy(causes: Sequence[str], remedy: str) -> str:
    """Nothing, where there is no cause."""
    return f"{joined(causes)}; {remedy}" if causes else ""


def allowed(tolerance: Tolerance) -> str:
    parts = [
        *([said(tolerance.absolute)] if tolerance.absolute else []),
        *([percent(tolerance.percent)] if tolerance.percent else []),
    ]
    return f" (give or take {' or '.join(parts)})" if parts else ""


def counted(counts: Mapping[str, int], *, most: int = 0) -> tuple[JudgedFigure, ...]:
    """A line for each name that is counted, of which there may be so many."""
    expected = f"{most:,} at most" if most else "0"
    return tuple(
        JudgedFigure(name=name, expected=expected, found=said(count), strays=count > most)
        for name, count in sorted(counts.items())
    )


def total(counts: Iterable[int]) -> str:
    return said(sum(counts))
