"""The figures by which a gate judged a day: in earlier accepted runs of it, and on the days before.

What consumers saw is compared with what is staged; runs that were never accepted are no measure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import Figure, PartitionMeasurement
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.domain.verdicts import Gate, Verdict
from backfill_platform.engine.look.gate_figures import gate_figures, shown_names
from backfill_platform.ledger.store import Ledger

RUNS_SHOWN = 5  # that were accepted for the day before
DAYS_SHOWN = 14  # up to the day itself

Measured = Mapping[tuple[RunId, date], PartitionMeasurement]


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureLine:
    """What one run has of one day."""

    run_id: RunId
    day: date
    accepted_at: datetime | None  # nothing for what is judged now
    rows: int
    figures: tuple[Figure | None, ...]  # in the order of the history's names; None: not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureHistory:
    names: tuple[str, ...]
    of_runs: tuple[FigureLine, ...]  # the judged run first, then what was accepted, newest first
    of_days: tuple[FigureLine, ...]  # the judged day first, then what is accepted before it


def read_figure_history(
    ledger: Ledger, manifest: Manifest, verdicts: Sequence[Verdict]
) -> Mapping[tuple[date, Gate], FigureHistory]:
    """Two queries, whatever number of days and gates."""
    days = {verdict.day for verdict in verdicts}
    run_id = manifest.run_id
    accepted = ledger.accepted_histories(manifest.target.table, _with_days_before(days))
    owed = {one.run_id for history in accepted.values() for one in history}
    found = ledger.measured_days({run_id, *owed}, _with_days_before(days))
    measured = {(one.run_id, one.measured.day): one.measured for one in found}
    return {
        (verdict.day, verdict.gate): _history(run_id, verdict, accepted, measured)
        for verdict in verdicts
    }


def _with_days_before(days: Iterable[date]) -> frozenset[date]:
    return frozenset(day - timedelta(days=back) for day in days for back in range(DAYS_SHOWN))


def _history(
    run_id: RunId,
    verdict: Verdict,
    accepted: Mapping[date, Sequence[AcceptedPartition]],
    measured: Measured,
) -> FigureHistory:
    names = shown_names(verdict, measured.get((run_id, verdict.day)))
    gate = verdict.gate
    staged = _staged(run_id, verdict.day, gate, names, measured)
    earlier = [one for one in reversed(accepted.get(verdict.day, ())) if one.run_id != run_id]
    before = (verdict.day - timedelta(days=back) for back in range(1, DAYS_SHOWN))
    seen = (
        _staged(run_id, day, gate, names, measured)
        or _accepted(accepted.get(day, ())[-1:], gate, names, measured)
        for day in before
    )
    lines = (_accepted([one], gate, names, measured) for one in earlier[:RUNS_SHOWN])
    return FigureHistory(
        names=names,
        of_runs=tuple(line for line in (staged, *lines) if line),
        of_days=tuple(line for line in (staged, *seen) if line),
    )


def _staged(
    run_id: RunId, day: date, gate: Gate, names: Sequence[str], measured: Measured
) -> FigureLine | None:
    """Days around it that the same run has computed say more than what was accepted of them."""
    found = measured.get((run_id, day))
    if found is None:
        return None
    return FigureLine(
        run_id=run_id,
        day=day,
        accepted_at=None,
        rows=found.row_count,
        figures=_named(names, gate_figures(gate, found)),
    )


def _accepted(
    current: Sequence[AcceptedPartition], gate: Gate, names: Sequence[str], measured: Measured
) -> FigureLine | None:
    """A rollback accepts what another run has measured, and has no figures of its own."""
    if not current:
        return None
    (one,) = current
    found = measured.get((one.run_id, one.day))
    return FigureLine(
        run_id=one.run_id,
        day=one.day,
        accepted_at=one.accepted_at,
        rows=one.row_count,
        figures=_named(names, gate_figures(gate, found) if found else {}),
    )


def _named(names: Sequence[str], figures: Mapping[str, Figure]) -> tuple[Figure | None, ...]:
    return tuple(figures.get(name) for name in names)
