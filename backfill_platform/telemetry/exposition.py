"""The ledger's figures as Prometheus reads them: names, labels and units stand here alone.

Labels are words of which there are few: tables, kinds, modes, states, gates. A run's id is none of
them. Nothing is kept between two readings, so whoever is asked next gives the same answer.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, time, timedelta

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from backfill_platform.domain.ledger_figures import (
    BEYOND,
    COMMIT_SECONDS,
    SECONDS,
    WRITE_MILLISECONDS,
    Counted,
    LedgerFigures,
    Tally,
)
from backfill_platform.domain.lifecycle import RunState

_OF_RUNS = ("table", "kind", "mode")
_WAITING = {RunState.AWAITING_APPROVAL: "staging", RunState.AWAITING_PUBLISH: "publication"}

Tallies = dict[Counted, list[Tally]]


class FiguresCollector(Collector):
    """Asks anew for each reading."""

    def __init__(self, look: Callable[[], LedgerFigures], clock: Callable[[], datetime]) -> None:
        self._look = look
        self._clock = clock

    def describe(self) -> Iterable[Metric]:
        """Nothing, so that registering it reads no ledger."""
        return ()

    def collect(self) -> Iterator[Metric]:
        figures, tallies = self._look(), defaultdict[Counted, list[Tally]](list)
        for one in figures.tallies:
            tallies[one.counted].append(one)
        yield from _rows(tallies)
        yield from _chunks(tallies)
        yield from _publications(tallies)
        yield _cost(tallies)
        yield from _runs(figures, self._clock())
        yield from _reaches(figures)


def make_registry(
    look: Callable[[], LedgerFigures], clock: Callable[[], datetime]
) -> CollectorRegistry:
    """One of its own: that of the process would add its memory and threads."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(FiguresCollector(look, clock))
    return registry


def render(look: Callable[[], LedgerFigures], clock: Callable[[], datetime]) -> bytes:
    return generate_latest(make_registry(look, clock))


def _rows(tallies: Tallies) -> Iterator[Metric]:
    yield _counter("backfill_input_records", "Rows read by chunks.", tallies[Counted.INPUT_ROWS])
    yield _counter(
        "backfill_output_records", "Rows staged by chunks.", tallies[Counted.OUTPUT_ROWS]
    )
    yield _counter(
        "backfill_rejected_records",
        "Rows that a transform set aside.",
        tallies[Counted.REJECTED_ROWS],
    )


def _chunks(tallies: Tallies) -> Iterator[Metric]:
    yield _counter(
        "backfill_chunks_completed",
        "Chunks that came to this status; one that is computed again comes there again.",
        tallies[Counted.CHUNKS],
        ("status",),
    )
    yield _counter(
        "backfill_validation_failures",
        "Verdicts that are not PASSED, one for each gate and day.",
        tallies[Counted.STRAYED_VERDICTS],
        ("gate", "outcome"),
    )
    yield _histogram(
        "backfill_chunk_duration_seconds",
        "From the claim of a chunk until it was staged and measured.",
        (tallies[Counted.CHUNKS_BY_SECONDS], tallies[Counted.CHUNK_MILLISECONDS]),
        SECONDS,
        milliseconds_of_unit=1000,
    )
    yield _histogram(
        "backfill_sink_write_latency_ms",
        "How long Spark took to compute and write a chunk's rows.",
        (tallies[Counted.WRITES_BY_MILLISECONDS], tallies[Counted.WRITE_MILLISECONDS]),
        WRITE_MILLISECONDS,
        milliseconds_of_unit=1,
    )


def _publications(tallies: Tallies) -> Iterator[Metric]:
    yield _histogram(
        "backfill_publish_duration_seconds",
        "From the intent to publish until it was recorded that it landed.",
        (tallies[Counted.COMMITS_BY_SECONDS], tallies[Counted.COMMIT_MILLISECONDS]),
        COMMIT_SECONDS,
        milliseconds_of_unit=1000,
    )


def _cost(tallies: Tallies) -> Metric:
    family = GaugeMetricFamily(
        "backfill_cost_estimate",
        "US dollars since the beginning, by the rate of the estimates: planned, and computed.",
        labels=(*_OF_RUNS, "of"),
    )
    for counted, of in (
        (Counted.PLANNED_MICRODOLLARS, "planned"),
        (Counted.COMPUTED_MICRODOLLARS, "computed"),
    ):
        for one in tallies[counted]:
            family.add_metric((*_labels(one), of), one.amount / 1_000_000)
    return family


def _runs(figures: LedgerFigures, now: datetime) -> Iterator[Metric]:
    by_state = GaugeMetricFamily(
        "backfill_runs", "Runs that stand in this state.", labels=("table", "kind", "state")
    )
    waiting = GaugeMetricFamily(
        "backfill_approvals_waiting",
        "Runs that wait for somebody's consent before this.",
        labels=("table", "before"),
    )
    for (table, before), runs in _waiting(figures).items():
        waiting.add_metric((table, before), runs)
    for one in figures.runs:
        by_state.add_metric((one.table, one.kind.value, one.state.value), one.runs)
    longest = GaugeMetricFamily(
        "backfill_longest_in_state_seconds",
        "How long the run that has been in this state longest is there; unfinished runs only.",
        labels=("table", "state"),
    )
    for one in figures.longest:
        longest.add_metric((one.table, one.state.value), (now - one.since).total_seconds())
    yield from (by_state, waiting, longest)


def _waiting(figures: LedgerFigures) -> dict[tuple[str, str], int]:
    """Zero where runs of the table are known and none waits, so that an alert resolves."""
    found = {(one.table, before): 0 for one in figures.runs for before in _WAITING.values()}
    for one in figures.runs:
        if one.state in _WAITING:
            found[one.table, _WAITING[one.state]] += one.runs
    return found


def _reaches(figures: LedgerFigures) -> Iterator[Metric]:
    up_to = GaugeMetricFamily(
        "backfill_accepted_up_to_timestamp_seconds",
        "The end, in UTC, of the last day that consumers see.",
        labels=("table",),
    )
    partitions = GaugeMetricFamily(
        "backfill_accepted_partitions", "Days that consumers see.", labels=("table",)
    )
    for one in figures.reaches:
        end = datetime.combine(one.last_day + timedelta(days=1), time(), UTC)
        up_to.add_metric((one.table,), end.timestamp())
        partitions.add_metric((one.table,), one.partitions)
    yield from (up_to, partitions)


def _counter(
    name: str, meaning: str, tallies: Iterable[Tally], words: Sequence[str] = ()
) -> Metric:
    family = CounterMetricFamily(name, meaning, labels=(*_OF_RUNS, *words))
    for one in tallies:
        family.add_metric((*_labels(one), *one.word.split()), one.amount)
    return family


def _histogram(
    name: str,
    meaning: str,
    tallies: tuple[Iterable[Tally], Iterable[Tally]],
    bounds: Sequence[int],
    *,
    milliseconds_of_unit: int,
) -> Metric:
    family = HistogramMetricFamily(name, meaning, labels=_OF_RUNS)
    counted = defaultdict[tuple[str, ...], dict[str, int]](dict)
    by_bucket, in_all = tallies
    for one in by_bucket:
        counted[_labels(one)][one.word] = one.amount
    sums = {_labels(one): one.amount / milliseconds_of_unit for one in in_all}
    for labels, amounts in counted.items():
        family.add_metric(labels, _cumulated(amounts, bounds), sums.get(labels, 0))
    return family


def _cumulated(amounts: dict[str, int], bounds: Sequence[int]) -> list[tuple[str, float]]:
    """What was counted under bounds that are no longer declared counts as beyond all of them."""
    total, buckets = 0, list[tuple[str, float]]()
    for bound in bounds:
        total += amounts.get(str(bound), 0)
        buckets.append((str(float(bound)), total))
    return [*buckets, (BEYOND, sum(amounts.values()))]


def _labels(one: Tally) -> tuple[str, ...]:
    return one.table, one.kind.value, one.mode.value
