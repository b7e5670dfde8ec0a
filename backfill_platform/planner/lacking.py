"""Which days a table lacks, and why: what is due and is not there.

A day is due once it has ended, every input holds it, and, where the table is computed from complete
windows alone, its window is closed. Of other days that are read, warm-up needs the declared start
of the input and no more. A day that an input table lacks is that table's gap: once it is filled,
the day is due here. Before an input starts, and after retention has closed a day, nothing lacks.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

from backfill_platform.domain.contracts import DerivedContract
from backfill_platform.domain.gaps import EndedRun, Gap, GapKind
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.partitions import ONE_DAY, DayRange, PartitionSet
from backfill_platform.domain.quality import WatermarkPolicy
from backfill_platform.domain.tables import Input, TableSpec
from backfill_platform.planner.gap_facts import GapFacts, TableFacts
from backfill_platform.planner.watermark import settled_until
from backfill_platform.planner.wording import count_of, name_days


@dataclass(frozen=True, slots=True, kw_only=True)
class _Why:
    """Days with the same reason that follow each other are one gap."""

    kind: GapKind
    inputs: tuple[str, ...] = ()  # with a hole
    run: EndedRun | None = None
    first_load: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """At one table; what is the same for each of its days is looked up once."""

    facts: GapFacts
    spec: TableSpec
    first: date | None  # that was ever published
    last: date | None
    last_held: Mapping[str, date | None]  # by input
    ended: tuple[EndedRun, ...]  # the newest first


def lacking_gaps(facts: GapFacts, table: TableFacts) -> Iterator[Gap]:
    # A table of corrections holds what was found wrong; a day without any lacks nothing.
    if isinstance(table.spec.schema, DerivedContract):
        return
    look = _look(facts, table)
    found = [(day, why) for day in _to_look_at(facts, table) if (why := _why(look, day))]
    place = {day: at for at, (day, _) in enumerate(found)}
    together = groupby(found, lambda one: (one[0] - timedelta(days=place[one[0]]), one[1]))
    for (_, why), days in together:
        yield _gap(table, why, [day for day, _ in days])


def _look(facts: GapFacts, table: TableFacts) -> _Look:
    return _Look(
        facts=facts,
        spec=table.spec,
        first=min(table.known_days, default=None),
        last=max(table.known_days, default=None),
        last_held={
            used.name: max(facts.inputs[used.name].days, default=None) for used in table.spec.inputs
        },
        ended=table.ended,
    )


def _to_look_at(facts: GapFacts, table: TableFacts) -> Iterator[date]:
    """Ended days that are not there and may still be written."""
    first = max([table.spec.start, *_opened_on(facts, table.spec)])
    if first >= facts.today:
        return
    for day in DayRange(first, facts.today):
        if not table.is_there(day):
            yield day


def _opened_on(facts: GapFacts, spec: TableSpec) -> Iterator[date]:
    """From when on inputs can hold anything, and neither they nor the table are closed."""
    for used in spec.inputs:
        held = facts.inputs[used.name]
        yield held.start
        if held.retention_days is not None:
            yield facts.today - timedelta(days=held.retention_days)
    if spec.retention_days is not None:
        yield facts.today - timedelta(days=spec.retention_days)


def _why(look: _Look, day: date) -> _Why | None:
    """Nothing where the day is not due."""
    inputs = look.facts.inputs
    lacking = [used.name for used in look.spec.inputs if day not in inputs[used.name].days]
    if lacking:
        holes = tuple(name for name in lacking if _is_hole(look, name, day))
        return _Why(kind=GapKind.INPUT_MISSING, inputs=holes) if holes else None
    if not all(_is_closed(look, used, day) for used in look.spec.inputs):
        return None
    is_ahead = look.last is None or day > look.last
    kind = GapKind.INPUT_AHEAD if is_ahead else GapKind.MISSING_PARTITION
    ended = next((run for run in look.ended if day in run.days), None)
    return _Why(
        kind=GapKind.RUN_ENDED if ended else kind,
        run=ended,
        first_load=look.first is None or day < look.first,
    )


def _is_hole(look: _Look, name: str, day: date) -> bool:
    """Passed over by whoever lands the source; what is still to land is none."""
    last = look.last_held[name]
    return look.facts.inputs[name].is_source and last is not None and day < last


def _is_closed(look: _Look, used: Input, day: date) -> bool:
    if look.spec.quality.watermark is not WatermarkPolicy.BY_COMPLETE_WINDOW:
        return True
    settled = settled_until(look.last_held[used.name], yesterday=look.facts.today - ONE_DAY)
    return settled is not None and day + timedelta(days=used.late_days) <= settled


def _gap(table: TableFacts, why: _Why, days: list[date]) -> Gap:
    return Gap(
        table=table.spec.full_name,
        kind=why.kind,
        subject=f"empty-{days[0]}",
        days=PartitionSet.of_days(days),
        message=_message(why, days),
        fills=True,
        first_load=why.first_load,
        since=why.run.ended_at if why.run else None,
    )


def _message(why: _Why, days: list[date]) -> str:
    said = f"{count_of(len(days), 'day')} ({name_days(days)})"
    is_one = len(days) == 1
    if why.kind is GapKind.INPUT_MISSING:
        return f"{' and '.join(why.inputs)} skipped {said}: there is nothing to compute from"
    if why.run is not None:
        holds = "holds" if is_one else "hold"
        return f"{said} {holds} nothing since run {why.run.run_id} {_ended(why.run)}"
    if why.first_load:
        return f"the inputs hold {said} before anything that was ever published"
    if why.kind is GapKind.INPUT_AHEAD:
        return f"the inputs hold {said} after the last day of the table"
    return f"{said} {'is due and holds' if is_one else 'are due and hold'} nothing"


def _ended(run: EndedRun) -> str:
    return "failed" if run.state is RunState.FAILED else run.state.value.lower()
