"""Chains records by SHA-256, so that a change of any of them is found.

The one rule for the ledger's events and for evidence files: each hash covers the record's canonical
JSON and the hash before it. A chain cannot show that its last records were cut off; whoever keeps
one must keep its newest hash, or the state that it leads to, somewhere else.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from backfill_platform.domain.canonical import canonical_json

GENESIS_HASH = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLink:
    record: Mapping[str, Any]
    previous_hash: str
    hash: str


def link(previous_hash: str, record: Mapping[str, Any]) -> str:
    """The hash of a record that follows the one with `previous_hash`."""
    return hashlib.sha256(f"{previous_hash}\n{canonical_json(record)}".encode()).hexdigest()


def first_broken(links: Iterable[ChainLink]) -> int | None:
    """The place of the first link that does not follow, counted from 0.

    Guarded by test_any_tampering_breaks_the_chain.
    """
    previous_hash = GENESIS_HASH
    for place, found in enumerate(links):
        if found.previous_hash != previous_hash or found.hash != link(previous_hash, found.record):
            return place
        previous_hash = found.hash
    return None
