"""Gaps that nobody repairs unattended, noted and reported as a look for gaps would."""

from backfill_platform.domain.gaps import Gap, GapKind, GapReport, report_digest
from backfill_platform.engine.platform import Platform
from backfill_platform_tests.readings import BRONZE

WHY = "the policy repairs nothing here"


def report_gaps(platform: Platform, messages: dict[str, str]) -> None:
    """By subject; what was reported before and is none of them is over."""
    gaps = [
        Gap(
            table=BRONZE,
            kind=GapKind.MISSING_PARTITION,
            subject=subject,
            days=None,
            message=message,
        )
        for subject, message in messages.items()
    ]
    now = platform.clock()
    platform.ledger.note_gaps(gaps, tables=[BRONZE], now=now)
    reports = [GapReport(key=gap.key, digest=report_digest(gap, WHY), why=WHY) for gap in gaps]
    platform.ledger.report_gaps(reports, now=now)
