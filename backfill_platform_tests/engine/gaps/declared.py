"""The tiny domain of `readings`, whose first table bears no late rows."""

from dataclasses import replace

from backfill_platform.domain.quality import Quality, Tolerance
from backfill_platform_tests.readings import DECLARATIONS as READINGS

_BRONZE, *_OTHERS = READINGS.tables

DECLARATIONS = replace(
    READINGS,
    tables=(replace(_BRONZE, quality=Quality(late_rows=Tolerance())), *_OTHERS),
)
