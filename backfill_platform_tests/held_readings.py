"""The tiny domain of `readings`, whose bronze table is held where it suddenly has fewer rows."""

from dataclasses import replace
from decimal import Decimal

from backfill_platform.domain.quality import ROW_COUNT, ChangeBound, Measure, Quality, Tolerance
from backfill_platform_tests import readings

A_FIFTH = Decimal(20)
HALF = Decimal(50)
QUALITY = Quality(
    measures=(Measure(name="amount", expression="sum(amount)", by=("meter",)),),
    changes=(
        ChangeBound(measure=ROW_COUNT, fall_percent=A_FIFTH, rise_percent=HALF),
        ChangeBound(measure="amount", fall_percent=A_FIFTH, rise_percent=HALF),
    ),
    late_rows=Tolerance(absolute=Decimal(2)),
)

_BRONZE, *_OTHERS = readings.DECLARATIONS.tables
DECLARATIONS = replace(readings.DECLARATIONS, tables=(replace(_BRONZE, quality=QUALITY), *_OTHERS))
