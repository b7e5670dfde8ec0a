"""Which of a day's measured figures a gate judges by, so that they can be shown over time."""

from collections.abc import Callable, Iterator, Mapping

from backfill_platform.domain.measurements import Figure, PartitionMeasurement
from backfill_platform.domain.verdicts import Gate, JudgedFigure, Verdict

MOST_SHOWN = 3  # beside the count of rows; more of them make a table that nobody reads

Figures = Mapping[str, Figure]


def _values(measured: PartitionMeasurement) -> Figures:
    nulls = {f"nulls in {column}": count for column, count in measured.null_counts.items()}
    return {**nulls, **measured.check_failures}


def _lineage(measured: PartitionMeasurement) -> Figures:
    nameless = measured.rows_without_lineage
    return {} if nameless is None else {"rows without lineage": nameless}


def _measures(measured: PartitionMeasurement) -> Figures:
    by_value = {
        f"{measure} of {value}": figure
        for measure, figures in measured.by_dimension.items()
        for value, figure in figures.items()
    }
    return {**measured.measures, **by_value}


_FIGURES: Mapping[Gate, Callable[[PartitionMeasurement], Figures]] = {
    Gate.LINEAGE_COMPLETE: _lineage,
    Gate.REJECTS_BOUNDED: lambda measured: measured.rejected or {},
    Gate.KEY_UNIQUE: lambda measured: {"rows that repeat a key": measured.duplicate_keys},
    Gate.VALUES_VALID: _values,
    Gate.RELATIONS_KEPT: lambda measured: measured.orphans or {},
    Gate.INSTANTS_BOUNDED: lambda measured: measured.misplaced_instants or {},
    Gate.PRIVACY_KEPT: lambda measured: measured.private_rows,
    Gate.RECONCILED: _measures,
    Gate.GOLDEN_KEPT: _measures,
    Gate.CHANGE_EXPECTED: _measures,
}


def gate_figures(gate: Gate, measured: PartitionMeasurement) -> Figures:
    """By name; without the count of rows, which is shown for every gate."""
    return _FIGURES[gate](measured) if gate in _FIGURES else {}


def shown_names(verdict: Verdict, measured: PartitionMeasurement | None) -> tuple[str, ...]:
    """Those that stray; where none of them does by its name, the first ones."""
    figures = gate_figures(verdict.gate, measured) if measured else {}
    straying = (figure for figure in verdict.figures if figure.strays)
    names = dict.fromkeys(name for figure in straying for name in _matching(figures, figure))
    return tuple(names or figures)[:MOST_SHOWN]


def _matching(figures: Figures, judged: JudgedFigure) -> Iterator[str]:
    """A verdict names a measure with the week or month that it is summed over."""
    of_value = f" of {judged.value}" if judged.value else ""
    for name in figures:
        if name.endswith(of_value) and judged.name.startswith(name.removesuffix(of_value)):
            yield name
