"""Puts a chunk's figures before the gates and stores what they say; nothing here is acted upon.

Whoever publishes reads the stored verdicts again.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date

from backfill_platform.domain.journal import Level
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import PartitionMeasurement, SourceMeasurement
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.verdicts import Gate, Outcome, Verdict
from backfill_platform.engine.carry_out.accepted_figures import accepted_figures
from backfill_platform.engine.carry_out.late_rows import late_rows
from backfill_platform.engine.carry_out.parts import Part, session_of
from backfill_platform.engine.carry_out.progress import advance_run, fail_run
from backfill_platform.engine.carry_out.run_rules import run_rules
from backfill_platform.engine.carry_out.samples import keep_failing_rows
from backfill_platform.engine.carry_out.unchanged import with_left_reconciled
from backfill_platform.engine.consent.consents import hold_for_publication
from backfill_platform.engine.journal import note
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import keep_verdicts
from backfill_platform.validator.gates.judging import judge
from backfill_platform.validator.gates.rules import GateRules, LateRows


def judge_chunk(
    platform: Platform,
    manifest: Manifest,
    days: DayRange,
    parts: Sequence[Part],
    inputs: tuple[SourceMeasurement, ...],
    fencing_token: int,
    protection: Protection,
) -> tuple[Verdict, ...]:
    rules = run_rules(platform, manifest, protection)
    staged = platform.ledger.measurements(manifest.run_id, days)
    verdicts = judge(
        days,
        staged,
        inputs,
        rules,
        accepted=_accepted(platform, manifest, days, parts, rules),
        late_rows=_late_rows(platform, manifest, days, rules),
    )
    verdicts = with_left_reconciled(platform, manifest, days, verdicts)
    _keep_failing_rows(platform, manifest, parts, staged, verdicts, protection)
    platform.ledger.record_verdicts(
        manifest.run_id, days, verdicts, now=platform.clock(), fencing_token=fencing_token
    )
    _keep_verdicts(platform, manifest, days, verdicts)
    _note_judged(platform, verdicts)
    return verdicts


def _keep_failing_rows(
    platform: Platform,
    manifest: Manifest,
    parts: Sequence[Part],
    staged: Sequence[PartitionMeasurement],
    verdicts: Sequence[Verdict],
    protection: Protection,
) -> None:
    """Of days that are left none was ever kept: no gate had anything to say of them."""
    for part in parts:
        own = [measured for measured in staged if measured.day in part.days]
        judged = [verdict for verdict in verdicts if verdict.day in part.days]
        keep_failing_rows(platform, manifest, part.days, part.frames, own, judged, protection)


def _note_judged(platform: Platform, verdicts: tuple[Verdict, ...]) -> None:
    counts = Counter(verdict.outcome for verdict in verdicts)
    has_to_be_seen = counts[Outcome.FAILED] or counts[Outcome.HELD]
    note(
        platform,
        "chunk_judged",
        level=Level.WARNING if has_to_be_seen else Level.INFO,
        **{outcome.lower(): counts[outcome] for outcome in Outcome},
        failed_gates=",".join(sorted({one.gate for one in verdicts if one.is_refusal})) or None,
    )


def _accepted(
    platform: Platform, manifest: Manifest, days: DayRange, parts: Sequence[Part], rules: GateRules
) -> Mapping[date, PartitionMeasurement | None]:
    """Only where a gate asks for it: it may take a Spark action."""
    if Gate.CHANGE_EXPECTED not in rules.gates:
        return {}
    return accepted_figures(platform, session_of(parts), manifest, days, rules)


def _late_rows(
    platform: Platform, manifest: Manifest, days: DayRange, rules: GateRules
) -> Mapping[date, LateRows | None]:
    return late_rows(platform, manifest, days) if Gate.LATE_DATA in rules.gates else {}


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
