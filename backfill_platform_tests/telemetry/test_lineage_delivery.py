"""Events reach a service over HTTP, with the key that it asks for; a refusal is an error."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState

from backfill_platform.domain.errors import EngineUnavailable, EventRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lineage import LineagePlace
from backfill_platform.telemetry.lineage_delivery import make_delivery
from backfill_platform.telemetry.lineage_events import run_uuid

RUN = run_uuid(RunId("bf-20260704-case_sla_daily-3.1.0-001"), 1)
EVENT = RunEvent(
    eventType=RunState.START,
    eventTime="2026-07-04T09:00:00+00:00",
    run=Run(runId=str(RUN)),
    job=Job(namespace="backfill", name="silver.case_sla_daily"),
)


class Service:
    """Keeps what it is sent, and answers as it is told."""

    def __init__(self, status: int = 201) -> None:
        self.status = status
        self.heard: list[tuple[str, str | None, Any]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                key = self.headers.get("Authorization")
                service.heard.append((self.path, key, json.loads(body)))
                self.send_response(service.status)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing of this is for the screen."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service()
    thread = threading.Thread(target=service.server.serve_forever)
    thread.start()
    yield service
    service.server.shutdown()
    service.server.server_close()
    thread.join()


def place(service: Service, api_key: str = "") -> LineagePlace:
    url = f"http://127.0.0.1:{service.server.server_port}"
    return LineagePlace(url=url, api_key=api_key, file=Path("unused"), namespace="backfill")


def test_an_event_reaches_the_service(service: Service) -> None:
    make_delivery(place(service))(EVENT)
    ((path, key, said),) = service.heard
    assert (path, key, said["run"]["runId"]) == ("/api/v1/lineage", None, str(RUN))


def test_the_key_is_sent_and_not_shown(service: Service) -> None:
    make_delivery(place(service, "s3cret"))(EVENT)
    assert service.heard[0][1] == "Bearer s3cret"
    assert "s3cret" not in repr(place(service, "s3cret"))


def test_a_service_that_refuses_is_an_error_that_passes(service: Service) -> None:
    service.status = 503
    with pytest.raises(EngineUnavailable, match="could not be told"):
        make_delivery(place(service))(EVENT)
    assert len(service.heard) == 1


@pytest.mark.parametrize("status", [400, 413, 422])
def test_what_a_service_will_never_take_is_another_error(service: Service, status: int) -> None:
    service.status = status
    with pytest.raises(EventRefused, match="will never take it"):
        make_delivery(place(service))(EVENT)


def test_a_missing_key_is_mended_and_not_passed_over(service: Service) -> None:
    service.status = 401
    with pytest.raises(EngineUnavailable, match="could not be told"):
        make_delivery(place(service))(EVENT)


def test_a_file_that_cannot_be_written_is_an_error_that_passes(tmp_path: Path) -> None:
    (tmp_path / "openlineage.jsonl").mkdir()
    nowhere = LineagePlace(
        url="", api_key="", file=tmp_path / "openlineage.jsonl", namespace="backfill"
    )
    with pytest.raises(EngineUnavailable, match="could not be told"):
        make_delivery(nowhere)(EVENT)


def test_an_id_is_derived_and_stays_what_it_is() -> None:
    again = run_uuid(RunId("bf-20260704-case_sla_daily-3.1.0-001"), 1)
    taken_up = run_uuid(RunId("bf-20260704-case_sla_daily-3.1.0-001"), 2)
    assert (again, again == taken_up) == (RUN, False)
