"""The composition root: settings and declarations become the value that every use case takes."""

import importlib
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from backfill_platform.domain.announcements import Broker
from backfill_platform.domain.catalog import Catalog, Declarations, build_catalog
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.determinism import Sighting
from backfill_platform.domain.errors import DeclarationInvalid, SettingsInvalid
from backfill_platform.domain.journal import Journal
from backfill_platform.domain.lineage import LineagePlace
from backfill_platform.governance.alert_file import read_alerting
from backfill_platform.governance.alerting import Alerting
from backfill_platform.governance.policy import Policy
from backfill_platform.governance.policy_file import read_policy
from backfill_platform.governance.signatures import KeyFile, read_key_file
from backfill_platform.lakehouse.paths import Warehouse
from backfill_platform.ledger.store import Ledger
from backfill_platform.settings import Settings
from backfill_platform.telemetry.json_lines import make_journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    catalog: Catalog
    ledger: Ledger
    warehouse: Warehouse
    home: Path  # below it, what is told to people and to other tools
    landing: Path
    evidence: Path
    policy: Policy
    signers: KeyFile
    alerting: Alerting
    container_image: str
    broker: Broker | None  # where tables tell their publications on topics
    journal: Journal  # what is done, step by step
    lineage: LineagePlace  # where lineage is told
    clock: Callable[[], datetime]
    wait: Callable[[float], None]  # seconds; a limit is kept by waiting
    worker: str  # who claims chunks
    # What the plans of transforms showed, by a digest of what they are made from; of this process.
    examined: dict[str, tuple[Sighting, ...]] = field(default_factory=dict[str, Any], compare=False)


def open_platform(
    settings: Settings,
    *,
    clock: Callable[[], datetime] = utc_now,
    wait: Callable[[float], None] = time.sleep,
) -> Platform:
    return Platform(
        catalog=load_catalog(settings.catalog),
        ledger=Ledger.open(settings.ledger_url),
        warehouse=Warehouse(settings.warehouse),
        home=settings.home,
        landing=settings.landing,
        evidence=settings.evidence,
        policy=load_policy(settings.governance),
        signers=load_signers(settings.allowed_signers),
        alerting=load_alerting(settings.alerts),
        container_image=settings.container_image,
        broker=find_broker(settings),
        journal=make_journal(settings.log_file, settings.log_level),
        lineage=lineage_place(settings),
        clock=clock,
        wait=wait,
        worker=f"{socket.gethostname()}:{os.getpid()}",
    )


def find_broker(settings: Settings) -> Broker | None:
    if not settings.kafka_servers:
        return None
    return Broker(
        servers=settings.kafka_servers,
        username=settings.kafka_username,
        password=settings.kafka_password.get_secret_value(),
    )


def lineage_place(settings: Settings) -> LineagePlace:
    return LineagePlace(
        url=settings.lineage_url,
        api_key=settings.lineage_api_key.get_secret_value(),
        file=settings.lineage_file,
        namespace=settings.lineage_namespace,
    )


def load_catalog(location: str) -> Catalog:
    """A user's own tables replace the reference domain by this one setting."""
    # Here, because whoever only decides about a run does not wait for pandera and PySpark.
    from backfill_platform.validator.contract import read_contract

    module_name, _, attribute = location.partition(":")
    try:
        declarations = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as missing:
        raise SettingsInvalid(
            f"BACKFILL_CATALOG={location!r} cannot be loaded ({missing}); "
            "it must be `module:attribute` of a `Declarations` value"
        ) from missing
    if not isinstance(declarations, Declarations):
        raise DeclarationInvalid(
            subject=location, field="catalog", problem="is not a `Declarations` value"
        )
    return build_catalog(declarations, read_contract)


def load_policy(path: Path) -> Policy:
    return read_policy(_read(path, "BACKFILL_GOVERNANCE"), origin=str(path))


def load_signers(path: Path) -> KeyFile:
    return read_key_file(_read(path, "BACKFILL_ALLOWED_SIGNERS"), origin=str(path))


def load_alerting(path: Path) -> Alerting:
    return read_alerting(_read(path, "BACKFILL_ALERTS"), origin=str(path))


def _read(path: Path, setting: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as missing:
        raise SettingsInvalid(
            f"{path} cannot be read ({missing.strerror}); restore it, or name another file with "
            f"{setting}"
        ) from missing
