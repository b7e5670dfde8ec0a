"""A platform without declarations: enough for whoever decides about a run that is planned.

A manifest holds all that a decision is about, and reading the declarations would take longer than
deciding. Whoever plans, computes or publishes opens the whole platform.
"""

from collections.abc import Callable
from datetime import datetime

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.clock import utc_now
from backfill_platform.engine.platform import (
    Platform,
    lineage_place,
    load_policy,
    load_signers,
)
from backfill_platform.governance.alerting import NOBODY_TOLD
from backfill_platform.lakehouse.paths import Warehouse
from backfill_platform.ledger.store import Ledger
from backfill_platform.settings import Settings
from backfill_platform.telemetry.json_lines import make_journal

_NOTHING_DECLARED = Catalog(sources={}, references={}, tables={}, contracts={})


def open_desk(settings: Settings, *, clock: Callable[[], datetime] = utc_now) -> Platform:
    return Platform(
        catalog=_NOTHING_DECLARED,
        ledger=Ledger.open(settings.ledger_url),
        warehouse=Warehouse(settings.warehouse),
        home=settings.home,
        landing=settings.landing,
        evidence=settings.evidence,
        policy=load_policy(settings.governance),
        signers=load_signers(settings.allowed_signers),
        alerting=NOBODY_TOLD,
        container_image=settings.container_image,
        broker=None,
        journal=make_journal(settings.log_file, settings.log_level),
        lineage=lineage_place(settings),
        clock=clock,
        wait=_never,
        worker="desk",
    )


def _never(seconds: float) -> None:
    raise AssertionError(f"a decision waits for nothing, not for {seconds} seconds")
