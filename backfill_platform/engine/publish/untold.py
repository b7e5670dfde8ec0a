"""Which publications of a run its topic has not been told of, as far as the ledger knows.

Whoever only looks at a run asks here, and waits for neither Delta nor Kafka.
"""

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.runs import PublicationFact, PublicationRecord
from backfill_platform.ledger.store import Ledger


def untold(ledger: Ledger, manifest: Manifest) -> tuple[PublicationRecord, ...]:
    if manifest.target.topic is None:
        return ()
    told = {
        record.delivery.delivery_id
        for record in ledger.deliveries(manifest.run_id)
        if record.told_at is not None
    }
    return tuple(
        record
        for record in ledger.publications(manifest.run_id)
        if record.outcome is PublicationFact.LANDED and record.intent.publication_id not in told
    )
