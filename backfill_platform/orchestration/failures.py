"""Turns the platform's errors into Dagster's: what may be tried again, and what may not."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from backfill_platform.domain.errors import Retryable, Terminal


@contextmanager
def told_to_dagster() -> Iterator[None]:
    try:
        yield
    except Retryable as passing:
        raise dg.RetryRequested(max_retries=3, seconds_to_wait=5) from passing
    except Terminal as refused:
        raise dg.Failure(
            description=str(refused),
            metadata={"code": refused.code},
            allow_retries=False,
        ) from refused
