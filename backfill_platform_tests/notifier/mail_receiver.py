"""A mail server that takes what it is given, and says what it was asked for. It knows as much of
SMTP as a sender of alerts needs, encryption included.
"""

import socketserver
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from typing import cast

from backfill_platform_tests.notifier.served import served

_SAID = {"AUTH": "235 known", "QUIT": "221 bye"}


@dataclass
class MailReceiver:
    port: int = 0
    refused: str = ""  # part of recipients that are not known here
    tls: ssl.SSLContext | None = None
    messages: list[Message] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)  # the first word of each command


class _Server(socketserver.ThreadingTCPServer):
    receiver: MailReceiver


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self.receiver = cast(_Server, self.server).receiver
        with suppress(OSError):  # the other side has hung up
            self._say("220 here")
            self._talk()

    def _talk(self) -> None:
        while line := self.rfile.readline():
            word = line.split()[0].decode().upper()
            self.receiver.spoken.append(word)
            getattr(self, f"_{word.lower()}", self._other)(line.decode())

    def _ehlo(self, line: str) -> None:
        offers = "250-STARTTLS\r\n" if self.receiver.tls else ""
        self._say(f"250-here\r\n{offers}250 AUTH PLAIN")

    def _starttls(self, line: str) -> None:
        assert self.receiver.tls is not None
        self._say("220 go")
        with self.receiver.tls.wrap_socket(self.request, server_side=True) as encrypted:
            self.rfile, self.wfile = encrypted.makefile("rb"), encrypted.makefile("wb")
            with self.rfile, self.wfile:
                self._talk()

    def _rcpt(self, line: str) -> None:
        if self.receiver.refused and self.receiver.refused in line:
            self._say("550 unknown here")
            return
        self.receiver.recipients.append(line.partition("<")[2].partition(">")[0])
        self._say("250 fine")

    def _data(self, line: str) -> None:
        self._say("354 go on")
        lines: list[bytes] = []
        while (text := self.rfile.readline()) != b".\r\n":
            lines.append(text)
        self.receiver.messages.append(message_from_bytes(b"".join(lines)))
        self._say("250 taken")

    def _other(self, line: str) -> None:
        self._say(_SAID.get(line.split()[0].upper(), "250 fine"))

    def _say(self, said: str) -> None:
        self.wfile.write(f"{said}\r\n".encode())
        self.wfile.flush()


@contextmanager
def mail_receiver(
    *, refused: str = "", tls: ssl.SSLContext | None = None
) -> Iterator[MailReceiver]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.receiver = MailReceiver(refused=refused, tls=tls)
    with served(server) as port:
        server.receiver.port = port
        yield server.receiver
