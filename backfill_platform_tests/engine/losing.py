"""A ledger that is lost in one of its methods: what is left then is what a crash leaves."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from backfill_platform.engine.platform import Platform
from backfill_platform.ledger.store import Ledger


class FaultyLedger:
    """A ledger that is lost in one of its methods, whenever `fails` says so of what it is given."""

    def __init__(self, ledger: Ledger, method: str, fails: Callable[..., bool]) -> None:
        self._ledger = ledger
        self._method = method
        self._fails = fails

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._ledger, name)
        if name != self._method:
            return found

        def faulty(*given: Any, **named: Any) -> Any:
            if self._fails(*given, **named):
                raise ConnectionError("the ledger is gone")
            return found(*given, **named)

        return faulty


def losing(platform: Platform, method: str, fails: Callable[..., bool] | None = None) -> Platform:
    ledger: Any = FaultyLedger(platform.ledger, method, fails or (lambda *_, **__: True))
    return replace(platform, ledger=ledger)
