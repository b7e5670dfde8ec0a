"""The editions of the jurisdiction calendar that are deployed.

What was in force and what counts today are two editions: a standard of reporting that came later
changes no law of 2025. All of it is made up around real holidays.
"""

from datetime import date
from pathlib import Path

from backfill_platform.domain.tables import ReferenceData, ReferenceVersion
from backfill_platform.enforcement.jurisdiction_calendar import load_calendar

AS_RECORDED_IN_JANUARY = "calendar-v2025-01-15"
AS_RECORDED_IN_JUNE = "calendar-v2025-06-30"
RESTATED = "calendar-v2026-06-restated"
STANDARDIZED = "calendar-v2026-09-14"

_FOLDER = Path(__file__).parent / "jurisdiction_calendar"


def calendar_path(version: str) -> Path:
    return _FOLDER / f"{version}.json"


JURISDICTION_CALENDAR = ReferenceData(
    name="jurisdiction_calendar",
    versions=(
        ReferenceVersion(
            version=AS_RECORDED_IN_JANUARY,
            recorded_on=date(2025, 1, 15),
            path=calendar_path(AS_RECORDED_IN_JANUARY),
            note="Decrees of early 2025 are not in it; some days are expected ones.",
        ),
        ReferenceVersion(
            version=AS_RECORDED_IN_JUNE,
            recorded_on=date(2025, 6, 30),
            path=calendar_path(AS_RECORDED_IN_JUNE),
            note="With the decrees of the first half; three errors of January remain.",
        ),
        ReferenceVersion(
            version=RESTATED,
            recorded_on=date(2026, 6, 12),
            path=calendar_path(RESTATED),
            note="What was in force, also for days that earlier editions had wrong.",
        ),
        ReferenceVersion(
            version=STANDARDIZED,
            recorded_on=date(2026, 9, 14),
            path=calendar_path(STANDARDIZED),
            note="How it is reported since: closures by decree extend no deadline, in any year.",
        ),
    ),
    load=load_calendar,
    owner="legal-operations",
    description="Time zones, working weeks, holidays and service levels of each jurisdiction.",
)
