"""The tables on a check's page: figures, the rows that fail, and how the figures were before."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg

from backfill_platform.domain.failing_rows import FailingRow
from backfill_platform.domain.measurements import Figure
from backfill_platform.domain.verdicts import Verdict
from backfill_platform.engine.look.figure_history import FigureLine
from backfill_platform.engine.look.gate_story import GateStory, Trouble
from backfill_platform.orchestration.check_words import show_instant

_DAYS_SHOWN = 31
_FIGURES_SHOWN = 12

Tables = Mapping[str, dg.TableMetadataValue]


def trouble_tables(story: GateStory, trouble: Trouble) -> Tables:
    """The page sorts them by these names."""
    history = trouble.history
    tables = {
        "expected and found": _figures(story.verdict),
        "failing rows": [_failing(row) for row in trouble.failing_rows],
        "last accepted runs": _lines(history.names, history.of_runs, "accepted"),
        "last days": _lines(history.names, history.of_days, "day"),
    }
    return {name: _table(rows) for name, rows in tables.items() if rows}


def days_table(stories: Sequence[GateStory]) -> Tables:
    rows = [
        {
            "day": str(story.verdict.day),
            "verdict": story.verdict.outcome.value,
            "expected": story.verdict.expected,
            "found": story.verdict.found,
        }
        for story in stories[:_DAYS_SHOWN]
    ]
    left_over = len(stories) - _DAYS_SHOWN
    if left_over > 0:
        rows.append({"day": f"and {left_over} more", "verdict": "", "expected": "", "found": ""})
    return {"judged days": _table(rows)}


def _figures(verdict: Verdict) -> list[Mapping[str, str]]:
    """One line where a gate counts nothing by name."""
    day = str(verdict.day)
    if not verdict.figures:
        return [{"day": day, "expected": verdict.expected, "found": verdict.found}]
    return [
        {
            "day": day,
            "figure": f"{figure.name} of {figure.value}" if figure.value else figure.name,
            "expected": figure.expected,
            "found": figure.found,
            "strays": "yes" if figure.strays else "",
        }
        for figure in verdict.figures[:_FIGURES_SHOWN]
    ]


def _failing(row: FailingRow) -> Mapping[str, str]:
    return {"check": row.check, "key": _pairs(row.key), "found": _pairs(row.found)}


def _pairs(values: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name}={'null' if one is None else one}" for name, one in values.items())


def _lines(names: Sequence[str], lines: Iterable[FigureLine], by: str) -> list[Mapping[str, str]]:
    return [
        {
            by: str(line.day) if by == "day" else _accepted(line),
            "rows": f"{line.rows:,}",
            **{name: _said(figure) for name, figure in zip(names, line.figures, strict=True)},
            "run": line.run_id,
        }
        for line in lines
    ]


def _accepted(line: FigureLine) -> str:
    return show_instant(line.accepted_at) if line.accepted_at else "not yet"


def _said(figure: Figure | None) -> str:
    return "not measured" if figure is None else f"{figure:,}"


def _table(rows: Iterable[Mapping[str, Any]]) -> dg.TableMetadataValue:
    return dg.MetadataValue.table([dg.TableRecord(dict(row)) for row in rows])
