"""The tiny domain in months: thirty days are one chunk, and so one run of Dagster's."""

from dataclasses import replace

from backfill_platform_tests import readings

DECLARATIONS = replace(
    readings.DECLARATIONS,
    tables=tuple(replace(spec, chunk_days=31) for spec in readings.DECLARATIONS.tables),
)
