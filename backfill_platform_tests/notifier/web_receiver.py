"""A web server as receivers of alerts are: it takes a document and answers with a status."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from backfill_platform_tests.notifier.served import served


@dataclass
class WebReceiver:
    """Answers what `answers` says, one after the other, and then always 200."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    received: list[tuple[dict[str, str], Any]] = field(default_factory=list)

    @property
    def bodies(self) -> list[Any]:
        return [body for _, body in self.received]

    @property
    def ids(self) -> list[str]:
        return [headers["X-Alert-Delivery"] for headers, _ in self.received]

    @property
    def events(self) -> list[str]:
        return [body["event"] for body in self.bodies]


class _Server(ThreadingHTTPServer):
    receiver: WebReceiver


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        receiver = cast(_Server, self.server).receiver
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.received.append((dict(self.headers), json.loads(body)))
        self.send_response(receiver.answers.pop(0) if receiver.answers else 200)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@contextmanager
def web_receiver(answers: Sequence[int] = ()) -> Iterator[WebReceiver]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.receiver = WebReceiver(answers=[*answers])
    with served(server) as port:
        server.receiver.url = f"http://127.0.0.1:{port}/in"
        yield server.receiver
