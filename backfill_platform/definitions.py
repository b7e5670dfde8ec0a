"""Dagster's entry point."""

import gc

# What a service or the worker of a run starts with stays until it ends: to look for garbage in it
# again and again takes a quarter of the start.
gc.disable()
try:
    from backfill_platform.orchestration.build import build_definitions
    from backfill_platform.settings import load_settings

    defs = build_definitions(load_settings())
    gc.freeze()
finally:
    gc.enable()
