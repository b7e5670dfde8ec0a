"""Delivers OpenLineage events by the client's own transports: to a service, or into a file.

The transports are used without the client around them, which would read the environment and add
what it finds there. What goes wrong passes, or is mended outside; but for what is never taken.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from openlineage.client.event_v2 import RunEvent
from openlineage.client.serde import Serde
from openlineage.client.transport import Transport
from openlineage.client.transport.file import FileConfig, FileTransport
from openlineage.client.transport.http import (
    ApiKeyTokenProvider,
    HttpConfig,
    HttpTransport,
    TokenProvider,
)
from requests import HTTPError, RequestException

from backfill_platform.domain.errors import EngineUnavailable, EventRefused
from backfill_platform.domain.lineage import LineagePlace

_TIMEOUT_SECONDS = 3.0
_NEVER_TAKEN = frozenset({400, 413, 422})  # it is about the event, and not about who sends it

Deliver = Callable[[RunEvent], None]


def make_delivery(place: LineagePlace) -> Deliver:
    """Nothing is opened before the first event: whoever only may have to tell one needs no place
    for it."""
    transport = cache(lambda: _transport(place))

    def deliver(event: RunEvent) -> None:
        try:
            transport().emit(event)
        except (RequestException, RuntimeError, OSError) as failure:
            _refuse_for_good(place, failure)
            raise EngineUnavailable(
                f"Lineage could not be told to {place.url or place.file} ({failure}). What is "
                "untold is kept, and told when it can be; nothing else waits for it."
            ) from failure

    return deliver


def _refuse_for_good(place: LineagePlace, failure: Exception) -> None:
    """Where sending the same again would be refused again; a missing key is mended outside."""
    answer = failure.response if isinstance(failure, HTTPError) else None
    if answer is not None and answer.status_code in _NEVER_TAKEN:
        raise EventRefused(
            f"{place.url} answered {answer.status_code} to an event and will never take it; it is "
            "passed over. `backfill lineage RUN` shows what was sent."
        ) from failure


def as_json(event: RunEvent) -> str:
    return Serde.to_json(event)


def _transport(place: LineagePlace) -> Transport:
    if not place.url:
        return _file_transport(place.file)
    auth = ApiKeyTokenProvider({"apiKey": place.api_key}) if place.api_key else TokenProvider({})
    # It is tried again with the next look: a tick does not wait long for a service.
    return HttpTransport(
        HttpConfig(url=place.url, timeout=_TIMEOUT_SECONDS, auth=auth, retry={"total": 0})
    )


def _file_transport(path: Path) -> Transport:
    path.parent.mkdir(parents=True, exist_ok=True)
    return FileTransport(FileConfig(log_file_path=str(path), append=True))
