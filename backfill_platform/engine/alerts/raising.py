"""Looks at everything once, and records what somebody has to hear of; nothing is sent here.

What is recorded is told: the messages wait in the same transaction. Whoever dies before it has told
nothing, and the next look finds the same.
"""

from dataclasses import replace

from backfill_platform.domain.alerts import AlertRound
from backfill_platform.engine.alerts.facts import read_facts
from backfill_platform.engine.platform import Platform
from backfill_platform.governance.alert_round import decide_round


def raise_alerts(platform: Platform) -> AlertRound:
    """What was told; not what somebody else who looked at the same moment has told."""
    book, now = platform.ledger.alerts, platform.clock()
    known = book.open_alerts()
    found = decide_round(read_facts(platform, known, now), known, platform.alerting, now)
    return replace(found, changes=book.record_round(found, now=now))
