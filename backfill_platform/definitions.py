"""Dagster's entry point."""

from backfill_platform.orchestration.build import build_definitions
from backfill_platform.settings import load_settings

defs = build_definitions(load_settings())
