"""Ways by which an alert reaches somebody, as they are declared; sending belongs to `notifier`.

A secret is never a value here: a text names the variable that holds it, `${BACKFILL_…}`, and is
completed when something is sent.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import TypeVar

SECRET = re.compile(r"\$\{(?P<name>[^}]*)\}")
SECRET_NAME = re.compile(r"BACKFILL_[A-Z0-9_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChannel:
    """A line of JSON for each message, in a file below the platform's home."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandChannel:
    """A program that gets the message as JSON on its standard input; no shell is involved."""

    command: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookChannel:
    """An address that takes the message as JSON."""

    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackChannel:
    """An address that takes `{"text": …}`, as Slack's incoming webhooks and their likes do."""

    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailChannel:
    host: str
    port: int
    sender: str
    recipients: tuple[str, ...]
    starttls: bool
    username: str = ""
    password: str = ""


AlertChannel = FileChannel | CommandChannel | WebhookChannel | SlackChannel | EmailChannel

C = TypeVar("C", bound=AlertChannel)


def secret_names(text: str) -> tuple[str, ...]:
    return tuple(found["name"] for found in SECRET.finditer(text))


def with_secrets(channel: C, find_secret: Callable[[str], str]) -> C:
    return replace(
        channel,
        **{
            name: SECRET.sub(lambda found: find_secret(found["name"]), text)
            for name, text in _texts(channel)
            if SECRET.search(text)
        },
    )


def _texts(channel: AlertChannel) -> Iterator[tuple[str, str]]:
    for field in fields(channel):
        value = getattr(channel, field.name)
        if isinstance(value, str):
            yield field.name, value
