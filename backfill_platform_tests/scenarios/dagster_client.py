"""Talks to a running webserver as the UI does: by GraphQL, with the same calls."""

import json
import time
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

T = TypeVar("T")

LAUNCH = """
mutation ($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
  }
}
"""

LAUNCH_RUN = """
mutation ($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
  }
}
"""

STATUS = """
query ($id: String!) {
  partitionBackfillOrError(backfillId: $id) {
    ... on PartitionBackfill {
      status
      assetBackfillData {
        assetBackfillStatuses {
          ... on AssetPartitionsStatusCounts {
            assetKey { path }
            numPartitionsTargeted
            numPartitionsMaterialized
            numPartitionsFailed
          }
        }
      }
    }
  }
}
"""

RUN_TIMES = """
query ($id: ID!) {
  runOrError(runId: $id) { ... on Run { creationTime startTime } }
}
"""

RUN_TAGS = """
query ($filter: RunsFilter!) {
  runsOrError(filter: $filter) { ... on Runs { results { tags { key value } } } }
}
"""


class DagsterClient:
    def __init__(self, url: str) -> None:
        self._url = f"{url}/graphql"

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            self._url, body, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["data"]

    def launch_backfill(
        self, assets: Sequence[str], days: Iterable[str], tags: Mapping[str, str]
    ) -> str:
        params = {
            "assetSelection": [{"path": asset.split("/")} for asset in assets],
            "partitionNames": list(days),
            "tags": [{"key": key, "value": value} for key, value in tags.items()],
        }
        return self.ask(LAUNCH, params=params)["launchPartitionBackfill"]["backfillId"]

    def launch_run(self, assets: Sequence[str], day: str, tags: Mapping[str, str]) -> str:
        """One Dagster run over one day, as a schedule asks for it."""
        given = {
            **tags,
            "dagster/asset_partition_range_start": day,
            "dagster/asset_partition_range_end": day,
        }
        params = {
            "selector": {
                "repositoryLocationName": "backfill_platform",
                "repositoryName": "__repository__",
                "jobName": "__ASSET_JOB",
                "assetSelection": [{"path": asset.split("/")} for asset in assets],
            },
            "executionMetadata": {
                "tags": [{"key": key, "value": value} for key, value in given.items()]
            },
        }
        return self.ask(LAUNCH_RUN, params=params)["launchRun"]["run"]["runId"]

    def finished_backfill(self, backfill_id: str) -> dict[str, Any]:
        """What the backfill's page shows, once it is over."""

        def page() -> dict[str, Any] | None:
            found = self.ask(STATUS, id=backfill_id)["partitionBackfillOrError"]
            is_over = found["status"].startswith("COMPLETED") or found["status"] == "FAILED"
            return found if is_over else None

        return wait_for(page, seconds=300)

    def waited(self, run_id: str) -> timedelta:
        """From its launch until its process was at work."""
        times = self.ask(RUN_TIMES, id=run_id)["runOrError"]
        return timedelta(seconds=times["startTime"] - times["creationTime"])

    def tags_of_runs(self, backfill_id: str) -> list[dict[str, str]]:
        wanted = {"tags": [{"key": "dagster/backfill", "value": backfill_id}]}
        runs = self.ask(RUN_TAGS, filter=wanted)["runsOrError"]["results"]
        return [{tag["key"]: tag["value"] for tag in run["tags"]} for run in runs]


def wait_for(look: Callable[[], T | None], *, seconds: float, pause: float = 0.5) -> T:
    """Looks until there is something to see; the pause is between looks, not instead of them."""
    deadline = time.monotonic() + seconds
    while (seen := look()) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing was seen within {seconds} seconds")
        time.sleep(pause)
    return seen
