"""Times a backfill that is launched in Dagster, as the UI launches it: by GraphQL.

From launch to the end of the last run, and of it, what Dagster's daemon waited between its ticks:
before it made a run, and before it began to start one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.partitions import DayRange
from backfill_platform_tests.scenarios.dagster_client import DagsterClient, wait_for

_BACKFILL = """
query ($id: String!) {
  partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status timestamp } }
}
"""

_RUNS = """
query ($filter: RunsFilter!) {
  runsOrError(filter: $filter, limit: 1000) {
    ... on Runs { results { runId status startTime endTime } }
  }
}
"""

_STARTING = """
query ($id: ID!) {
  runOrError(runId: $id) {
    ... on Run { eventConnection { events { __typename ... on RunStartingEvent { timestamp } } } }
  }
}
"""

_STATUS = "query ($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"

_LONGEST_SECONDS = 3600
_PAUSE = 3.0  # each look takes a processor of those who are looked at; when it ended, Dagster says


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    seconds: float  # without what the daemon waited
    waited: float
    starting: float  # of the seconds: from the wish to start a process until it is at work


def launch(
    client: DagsterClient, assets: Sequence[str], days: DayRange, tags: Mapping[str, str]
) -> Launched:
    named = [day.isoformat() for day in days]
    backfill = client.launch_backfill(assets, named, tags)
    return _timed(client, backfill)


def launch_refused(client: DagsterClient, asset: str, day: date) -> None:
    """Without a reason, so its first step refuses it."""
    run = client.launch_run([asset], day.isoformat(), {})

    def look() -> bool:
        status = client.ask(_STATUS, id=run)["runOrError"]["status"]
        if status == "SUCCESS":
            raise RuntimeError(f"run {run} was launched without a reason and not refused")
        return status == "FAILURE"

    wait_for(look, seconds=_LONGEST_SECONDS)


def _timed(client: DagsterClient, backfill: str) -> Launched:
    began = _ended(client, backfill)
    wanted = {"tags": [{"key": "dagster/backfill", "value": backfill}]}
    runs = sorted(
        client.ask(_RUNS, filter=wanted)["runsOrError"]["results"], key=lambda run: run["startTime"]
    )
    failed = [run["runId"] for run in runs if run["status"] != "SUCCESS"]
    if failed or not runs:
        raise RuntimeError(f"Dagster runs {failed} of backfill {backfill} failed: see their events")
    starts = [_starting(client, run["runId"]) for run in runs]
    ends = [run["endTime"] for run in runs]
    idle = [
        starts[0] - began,
        *(max(0.0, later - end) for end, later in zip(ends[:-1], starts[1:], strict=True)),
    ]
    return Launched(
        seconds=max(ends) - began - sum(idle),
        waited=sum(idle),
        starting=sum(run["startTime"] - start for run, start in zip(runs, starts, strict=True)),
    )


def _ended(client: DagsterClient, backfill: str) -> float:
    """Returns when it was launched."""

    def look() -> float | None:
        found = client.ask(_BACKFILL, id=backfill)["partitionBackfillOrError"]
        if found["status"] in {"FAILED", "COMPLETED_FAILED", "CANCELED"}:
            raise RuntimeError(f"backfill {backfill} is {found['status']}: see its runs")
        return found["timestamp"] if found["status"].startswith("COMPLETED") else None

    return wait_for(look, seconds=_LONGEST_SECONDS, pause=_PAUSE)


def _starting(client: DagsterClient, run: str) -> float:
    events = client.ask(_STARTING, id=run)["runOrError"]["eventConnection"]["events"]
    return next(
        int(event["timestamp"]) / 1000
        for event in events
        if event["__typename"] == "RunStartingEvent"
    )
