"""Dagster's entry point."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def _made_to_stay() -> Iterator[None]:
    """What a service or the worker of a run starts with stays until it ends: to look for garbage
    in it again and again takes a quarter of the start."""
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


with _made_to_stay():
    from backfill_platform.orchestration.build import build_definitions
    from backfill_platform.settings import load_settings

    defs = build_definitions(load_settings())
