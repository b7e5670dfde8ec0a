"""The ledger of such a world: runs, their events, chunks and publications, and what is accepted.

Written as rows in bulk, because the ledger's own road takes one run after the other. Its triggers
let nobody insert what has ended already, so they rest meanwhile and stand again afterwards.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import manifest_digest
from backfill_platform.domain.modes import ExecutionMode, RunKind
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.ledger.database import opened, writing
from backfill_platform.ledger.schema import publication, run
from benchmarks.scale.catalog import make_catalog
from benchmarks.scale.logs import FILE_ROWS, PastRun
from benchmarks.scale.shapes import Place

JUDGED_DAYS = 365  # of which verdicts and measurements are kept; older ones cost what these cost
_ROWS_AT_ONCE = 2_000
_ROAD = ("PLANNED", "APPROVED", "STAGING", "STAGED", "VALIDATED", "PUBLISHING", "PUBLISHED")


def write_past(place: Place, runs: Iterable[PastRun], manifests: Mapping[str, str]) -> None:
    """`manifests` are the texts of one run of each table, under a name to be replaced."""
    with _triggers_at_rest(place):
        with opened(f"sqlite:///{place.ledger}") as engine, writing(engine) as connection:
            for some in _batches(runs):
                connection.execute(run.insert(), [_run_row(one, manifests) for one in some])
                connection.execute(publication.insert(), [_publication_row(one) for one in some])
        with sqlite3.connect(place.ledger) as database:
            for statement, values in _following(place):
                database.execute(statement, values)
        database.close()


NAMELESS = "bf-20000101-nameless-1.0.0-001"  # stands in the text of a manifest for its run's id


def manifest_text(manifests: Mapping[str, str], table: str, run_id: str) -> str:
    return manifests[table].replace(NAMELESS, run_id)


@contextmanager
def _triggers_at_rest(place: Place) -> Iterator[None]:
    with sqlite3.connect(place.ledger) as database:
        found = database.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in found:
            database.execute(f"DROP TRIGGER {name}")
    yield
    with sqlite3.connect(place.ledger) as database:
        for _, sql in found:
            database.execute(sql)
    database.close()


def _batches(runs: Iterable[PastRun]) -> Iterator[list[PastRun]]:
    some: list[PastRun] = []
    for one in runs:
        some.append(one)
        if len(some) == _ROWS_AT_ONCE:
            yield some
            some = []
    if some:
        yield some


def _run_row(past: PastRun, manifests: Mapping[str, str]) -> dict[str, object]:
    text = manifest_text(manifests, past.table, past.run_id)
    return {
        "run_id": past.run_id,
        "group_id": f"launch:{past.published_at:%Y-%m-%d}",
        "origin": f"launch:{past.run_id}",
        "table_name": past.table,
        "kind": (RunKind.LIVE if past.is_live else RunKind.BACKFILL).value,
        "mode": (ExecutionMode.LIVE if past.is_live else ExecutionMode.BACKFILL).value,
        "transform_version": "1.0.0",
        "state": RunState.PUBLISHED.value,
        "manifest_json": text,
        "manifest_digest": manifest_digest(text),
        "actor": "daily-live",
        "reason": "the daily load",
        "planned_at": past.published_at - timedelta(minutes=20),
        "updated_at": past.published_at,
        "days": PartitionSet.of_days(past.days),
        "valid_until": past.published_at + timedelta(days=3),
    }


def _publication_row(past: PastRun) -> dict[str, object]:
    days = [day.isoformat() for day in past.days]
    return {
        "publication_id": past.publication_id,
        "run_id": past.run_id,
        "table_name": past.table,
        "days": days,
        "intent_at": past.published_at - timedelta(seconds=2),
        "intent": {"base": {}, "files_count": len(days)},
        "fact_at": past.published_at,
        "version": past.version,
        "outcome": "LANDED",
    }


def _following(place: Place) -> Iterator[tuple[str, Mapping[str, object]]]:
    """What follows from runs and publications, made by the database itself."""
    spec = next(iter(make_catalog(1, place.days.start).tables.values()))
    judged_since = (place.days.end_exclusive - timedelta(days=JUDGED_DAYS)).isoformat()
    gates = json.dumps([gate.value for gate in spec.gates])
    yield _ACCEPTED, {"rows": FILE_ROWS}
    yield _EVENTS, {"road": json.dumps(_ROAD)}
    yield _CHUNKS, {"rows": FILE_ROWS}
    yield _MEASURED, {"since": judged_since, "rows": FILE_ROWS}
    yield _VERDICTS, {"since": judged_since, "gates": gates}


_ACCEPTED = """
INSERT INTO accepted_output
SELECT table_name, days.value, publication_id, run_id, :rows, '1000:0123456789abcdef', version,
       fact_at, NULL, NULL
FROM publication, json_each(publication.days) AS days
ORDER BY fact_at, publication_id
"""

_EVENTS = """
INSERT INTO run_event (
    run_id, seq, actor, at, cause, from_state, to_state, details, previous_hash, hash
)
SELECT run.run_id, road.key + 1, run.actor, run.updated_at, 'a step of the road',
       CASE WHEN road.key > 0 THEN json_extract(:road, '$[' || (road.key - 1) || ']') END,
       road.value, '{}',
       '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
       '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'
FROM run, json_each(:road) AS road
ORDER BY run.updated_at, run.run_id
"""

_CHUNKS = """
INSERT INTO chunk_run (
    run_id, chunk_id, start_day, end_day_exclusive, status, attempt, worker, fencing_token,
    lease_expires_at, input_count, output_count, checksum, started_at, finished_at
)
SELECT run_id,
       strftime('%Y%m%d', min(day)) || '-' || strftime('%Y%m%d', max(day)),
       min(day), date(max(day), '+1 day'), 'PUBLISHED', 1, 'a worker', 1, max(accepted_at),
       count(*) * :rows, count(*) * :rows, 'of all', max(accepted_at), max(accepted_at)
FROM accepted_output
GROUP BY run_id
"""

_MEASURED = """
INSERT INTO partition_measurement
SELECT accepted_output.run_id, day, chunk_id, 1, row_count, accepted_output.checksum,
       '{"duplicate_keys": 0, "null_counts": {"day": 0, "id": 0, "amount": 0, "text": 0},'
       || ' "check_failures": {"greater_than_or_equal_to(0)": 0}, "measures": {"rows": 1000},'
       || ' "private_rows": {}, "by_dimension": {}, "rows_without_lineage": 0, "rejected": {},'
       || ' "orphans": {}, "misplaced_instants": {}, "shape_problems": []}'
FROM accepted_output JOIN chunk_run ON chunk_run.run_id = accepted_output.run_id
WHERE day >= :since
"""

_VERDICTS = """
INSERT INTO verdict (run_id, day, gate, outcome, expected, found, message, judged_at, figures)
SELECT run_id, day, gates.value, 'PASSED', 'as declared', 'as declared', '', accepted_at, '[]'
FROM accepted_output, json_each(:gates) AS gates
WHERE day >= :since
"""
