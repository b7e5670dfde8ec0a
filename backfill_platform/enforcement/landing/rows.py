"""Turns the deliveries of one arrival day into the rows that the source systems would send."""

# pyarrow makes its compute functions when it is imported, where a type checker cannot see them.
# pyright: reportAttributeAccessIssue=false

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from backfill_platform.enforcement.landing.deliveries import (
    HORIZON_DAYS,
    Deliveries,
    arriving,
    cohort_size,
    whole_cohort,
)
from backfill_platform.enforcement.landing.timelines import SLOT_EVENTS
from backfill_platform.enforcement.lifecycle import CASE_CLASSES, JURISDICTIONS, EventType

LARGEST_KEPT_EVENTS_PER_DAY = 30_000  # above this, keeping whole cohorts would take gigabytes

_INSTANT = pa.timestamp("us", tz="UTC")
LANDED_SCHEMA = pa.schema(
    [
        ("event_id", pa.string()),
        ("case_id", pa.string()),
        ("jurisdiction", pa.string()),
        ("case_class", pa.string()),
        ("event_type", pa.string()),
        ("occurred_at", _INSTANT),
        ("effective_at", _INSTANT),
        ("source_version", pa.int32()),
        ("op", pa.string()),
        ("emitted_at", _INSTANT),
        ("payload", pa.string()),
    ]
)

_CHANNELS = ("portal", "post", "officer", "exchange")
_DECISIONS = (EventType.DECISION_EFFECTIVE, EventType.DECISION_AMENDED)
_HAS_EFFECT = np.array([event in _DECISIONS for event in SLOT_EVENTS])


def generate_day(seed: int, day: date, events_per_day: int) -> pa.Table:
    """Everything that arrives on `day`; depends on nothing but the arguments."""
    return pa.concat_tables(
        [LANDED_SCHEMA.empty_table(), *generate_parts(seed, day, events_per_day)]
    )


def generate_parts(seed: int, day: date, events_per_day: int) -> Iterator[pa.Table]:
    """The same, cohort by cohort, so that a big day never has to be in memory as a whole."""
    cases = cohort_size(events_per_day)
    for arrival in range(HORIZON_DAYS - 1, -1, -1):
        cohort_day = day - timedelta(days=arrival)
        for found in _arriving(seed, cohort_day, cases, arrival, events_per_day):
            if len(found.case):
                yield _rows(cohort_day, found)


def _arriving(
    seed: int, cohort_day: date, cases: int, arrival: int, events_per_day: int
) -> Iterator[Deliveries]:
    if events_per_day <= LARGEST_KEPT_EVENTS_PER_DAY:
        yield whole_cohort(seed, cohort_day, cases)[arrival]
    else:
        yield from arriving(seed, cohort_day, cases, arrival)


def _rows(cohort_day: date, found: Deliveries) -> pa.Table:
    case_id = _case_id(cohort_day, found)
    event_type = _words([event.value for event in SLOT_EVENTS], found.slot)
    number = pc.utf8_lpad(pc.cast(pa.array(found.slot), pa.string()), 2, "0")
    columns = [
        pc.binary_join_element_wise(case_id, number, "-"),
        case_id,
        _words(JURISDICTIONS, found.jurisdiction),
        _words(CASE_CLASSES, found.case_class),
        event_type,
        _instant(cohort_day, found.occurred),
        pc.if_else(pa.array(_HAS_EFFECT[found.slot]), _instant(cohort_day, found.effective), None),
        pa.array(found.version.astype(np.int32)),
        _words(("u", "d"), found.deleted.astype(np.int8)),
        _instant(cohort_day, found.emitted),
        _payload(case_id, event_type, found),
    ]
    return pa.Table.from_arrays(columns, schema=LANDED_SCHEMA)


def _case_id(cohort_day: date, found: Deliveries) -> pa.Array:
    number = pc.utf8_lpad(pc.cast(pa.array(found.case), pa.string()), 7, "0")
    opened = f"{cohort_day:%y%m%d}"
    return pc.binary_join_element_wise(
        _words(JURISDICTIONS, found.jurisdiction), opened, number, "-"
    )


def _payload(case_id: pa.Array, event_type: pa.Array, found: Deliveries) -> pa.Array:
    """Raw JSON as its sender wrote it; nothing downstream relies on what is in it."""
    channel = _words(_CHANNELS, (found.case % len(_CHANNELS)).astype(np.int8))
    desk = pc.cast(pa.array(found.case % 97), pa.string())
    version = pc.cast(pa.array(found.version), pa.string())
    return pc.binary_join_element_wise(
        '{"case":"', case_id, '","event":"', event_type, '","version":', version,
        ',"channel":"', channel, '","desk":', desk, "}", "",
    )  # fmt: skip


def _words(words: Sequence[str], index: np.ndarray) -> pa.Array:
    return pc.take(pa.array(list(words), pa.string()), pa.array(index))


def _instant(cohort_day: date, seconds: np.ndarray) -> pa.Array:
    start = np.datetime64(cohort_day, "s").astype(np.int64)
    return pa.array((start + seconds) * 1_000_000).cast(_INSTANT)
