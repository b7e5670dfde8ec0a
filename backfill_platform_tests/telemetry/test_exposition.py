"""What Prometheus reads is what the figures say; nothing here needs a ledger."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

from prometheus_client.parser import text_string_to_metric_families

from backfill_platform.domain.ledger_figures import (
    Counted,
    LedgerFigures,
    LongestInState,
    Reach,
    RunsInState,
    Tally,
)
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import ExecutionMode, RunKind
from backfill_platform.telemetry.exposition import render

NOW = datetime(2026, 7, 4, 9, 0, tzinfo=UTC)
TABLE = "silver.case_sla_daily"
OF_RUNS = {"table": TABLE, "kind": "REPAIR", "mode": "BACKFILL"}

REQUIRED = {  # as requirement and dashboards name them
    "backfill_input_records",
    "backfill_output_records",
    "backfill_rejected_records",
    "backfill_chunks_completed",
    "backfill_chunk_duration_seconds",
    "backfill_sink_write_latency_ms",
    "backfill_validation_failures",
    "backfill_cost_estimate",
    "backfill_publish_duration_seconds",
}


def tally(counted: Counted, amount: int, word: str = "") -> Tally:
    return Tally(
        counted=counted,
        table=TABLE,
        kind=RunKind.REPAIR,
        mode=ExecutionMode.BACKFILL,
        word=word,
        amount=amount,
    )


def figures(
    *tallies: Tally,
    runs: tuple[RunsInState, ...] = (),
    longest: tuple[LongestInState, ...] = (),
    reaches: tuple[Reach, ...] = (),
) -> LedgerFigures:
    return LedgerFigures(tallies=tallies, runs=runs, longest=longest, reaches=reaches)


def in_state(state: RunState, runs: int) -> RunsInState:
    return RunsInState(table=TABLE, kind=RunKind.REPAIR, state=state, runs=runs)


def text(said: LedgerFigures) -> str:
    return render(lambda: said, lambda: NOW).decode()


def samples(said: LedgerFigures, name: str) -> list[tuple[Mapping[str, str], float]]:
    return [
        (one.labels, one.value)
        for family in text_string_to_metric_families(text(said))
        for one in family.samples
        if one.name == name
    ]


def test_every_required_metric_is_there_before_anything_has_happened() -> None:
    named = {family.name for family in text_string_to_metric_families(text(figures()))}
    assert named >= REQUIRED


def test_counters_end_as_counters_do() -> None:
    said = figures(tally(Counted.INPUT_ROWS, 9))
    assert samples(said, "backfill_input_records_total") == [(OF_RUNS, 9)]


def test_failures_are_told_by_gate_and_outcome() -> None:
    said = figures(tally(Counted.STRAYED_VERDICTS, 3, "key_unique FAILED"))
    assert samples(said, "backfill_validation_failures_total") == [
        ({**OF_RUNS, "gate": "key_unique", "outcome": "FAILED"}, 3)
    ]


def test_a_histogram_adds_up_and_its_sum_is_in_its_unit() -> None:
    said = figures(
        tally(Counted.CHUNKS_BY_SECONDS, 2, "5"),
        tally(Counted.CHUNKS_BY_SECONDS, 1, "60"),
        tally(Counted.CHUNKS_BY_SECONDS, 1, "+Inf"),
        tally(Counted.CHUNK_MILLISECONDS, 8_000_500),
    )
    buckets = samples(said, "backfill_chunk_duration_seconds_bucket")
    by_bound = {labels["le"]: value for labels, value in buckets}
    assert [by_bound[le] for le in ("1.0", "5.0", "30.0", "60.0", "7200.0", "+Inf")] == [
        *(0, 2, 2, 3, 3, 4)
    ]
    assert samples(said, "backfill_chunk_duration_seconds_sum") == [(OF_RUNS, 8000.5)]
    assert samples(said, "backfill_chunk_duration_seconds_count") == [(OF_RUNS, 4)]


def test_what_a_former_version_counted_in_other_buckets_is_still_counted() -> None:
    said = figures(tally(Counted.COMMITS_BY_SECONDS, 2, "3"))
    assert samples(said, "backfill_publish_duration_seconds_count") == [(OF_RUNS, 2)]


def test_cost_is_told_in_dollars_as_planned_and_as_computed() -> None:
    said = figures(
        tally(Counted.PLANNED_MICRODOLLARS, 2_500_000),
        tally(Counted.COMPUTED_MICRODOLLARS, 1_250_000),
    )
    assert samples(said, "backfill_cost_estimate") == [
        ({**OF_RUNS, "of": "planned"}, 2.5),
        ({**OF_RUNS, "of": "computed"}, 1.25),
    ]


def test_whoever_waits_is_counted_and_nobody_is_said_where_nobody_does() -> None:
    said = figures(runs=(in_state(RunState.AWAITING_PUBLISH, 2), in_state(RunState.PUBLISHED, 5)))
    assert samples(said, "backfill_approvals_waiting") == [
        ({"table": TABLE, "before": "staging"}, 0),
        ({"table": TABLE, "before": "publication"}, 2),
    ]


def test_runs_are_told_by_state_and_how_long_one_stands_there() -> None:
    since = NOW - timedelta(hours=2)
    said = figures(
        runs=(in_state(RunState.STAGING, 2),),
        longest=(LongestInState(table=TABLE, state=RunState.STAGING, since=since),),
    )
    assert samples(said, "backfill_runs") == [
        ({"table": TABLE, "kind": "REPAIR", "state": "STAGING"}, 2)
    ]
    assert samples(said, "backfill_longest_in_state_seconds") == [
        ({"table": TABLE, "state": "STAGING"}, 7200)
    ]


def test_a_table_is_seen_up_to_the_end_of_its_last_day() -> None:
    said = figures(reaches=(Reach(table=TABLE, last_day=date(2026, 7, 3), partitions=30),))
    midnight = datetime(2026, 7, 4, tzinfo=UTC).timestamp()
    assert samples(said, "backfill_accepted_up_to_timestamp_seconds") == [
        ({"table": TABLE}, midnight)
    ]
    assert samples(said, "backfill_accepted_partitions") == [({"table": TABLE}, 30)]
