"""Which statements a database is asked to execute."""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy import event


@contextmanager
def statements(engine: sa.Engine) -> Iterator[list[str]]:
    """What is executed meanwhile."""
    seen: list[str] = []

    def remember(*given: object) -> None:
        seen.append(str(given[2]))

    event.listen(engine, "before_cursor_execute", remember)
    yield seen
    event.remove(engine, "before_cursor_execute", remember)
