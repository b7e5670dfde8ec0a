"""Puts a chunk's figures before the gates and stores what they say; nothing here is acted upon.

Whoever publishes reads the stored verdicts again.
"""

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.transforms import Frames
from backfill_platform.domain.verdicts import Verdict
from backfill_platform.engine.carry_out.measuring import measure_inputs
from backfill_platform.engine.carry_out.progress import advance_run, fail_run
from backfill_platform.engine.consent.consents import hold_for_publication
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import keep_verdicts
from backfill_platform.validator.gates.judging import judge
from backfill_platform.validator.gates.rules import build_rules


def judge_chunk(
    platform: Platform,
    manifest: Manifest,
    days: DayRange,
    frames: Frames,
    fencing_token: int,
    protection: Protection,
) -> tuple[Verdict, ...]:
    spec = platform.catalog.tables[manifest.target.table]
    source = measure_inputs(platform, manifest, days, frames, protection)
    staged = platform.ledger.measurements(manifest.run_id, days)
    contract = platform.catalog.contracts[spec.full_name]
    rules = build_rules(spec, contract, manifest.validation, protection.promises)
    verdicts = judge(days, staged, source, rules)
    platform.ledger.record_verdicts(
        manifest.run_id, days, verdicts, now=platform.clock(), fencing_token=fencing_token
    )
    _keep_verdicts(platform, manifest, days, verdicts)
    return verdicts


def _keep_verdicts(
    platform: Platform, manifest: Manifest, days: DayRange, verdicts: tuple[Verdict, ...]
) -> None:
    failed = [verdict for verdict in verdicts if verdict.is_refusal]
    if failed:
        first = failed[0]
        cause = f"{len(failed)} verdicts of {days} are negative; {first.day}: {first.message}"
        fail_run(platform, manifest.run_id, cause)
    else:
        advance_run(platform, manifest)
        hold_for_publication(platform, manifest)
    keep_verdicts(platform, manifest.run_id, days, verdicts)
