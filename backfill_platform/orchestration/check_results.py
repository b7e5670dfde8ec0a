"""What a check says of a partition, or of all of a run's: in one screen what broke, since when, and
what is blocked.

The page shows the description above everything else, then the metadata in the order of their names.
Yellow (WARN) is what fails nothing by itself: a warning, and what an owner has to review, which the
publisher refuses until then. The page's strip of days knows no yellow: every day that did not pass
is red there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.verdicts import Gate, Outcome
from backfill_platform.engine.look.gate_story import GateStory, Trouble, united
from backfill_platform.orchestration.check_guards import describe_severity
from backfill_platform.orchestration.check_tables import days_table, trouble_tables
from backfill_platform.orchestration.check_words import (
    describe_day,
    describe_run,
    describe_unjudged,
    trouble_lines,
    worst_first,
)

RUN = "run"
JUDGED_AT = "judged at"
STANDING = "standing"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckContent:
    passed: bool
    severity: dg.AssetCheckSeverity
    description: str
    metadata: Mapping[str, Any]


def tell_day(story: GateStory, evidence: Path) -> CheckContent:
    own = {**_of_run(story, evidence), STANDING: story.standing.value}
    return CheckContent(
        passed=story.verdict.has_passed,
        severity=_severity(story.verdict.outcome),
        description=describe_day(story),
        metadata={**own, **(_of_trouble(story, story.trouble) if story.trouble else {})},
    )


def tell_run(stories: Sequence[GateStory], evidence: Path, *, days: int) -> CheckContent:
    """Of one gate, which has judged at least one of the days; the worst day is told as on its own
    page."""
    strays = worst_first(story for story in stories if story.trouble)
    worst = strays[0] if strays else stories[0]
    trouble = _of_trouble(worst, united(strays)) if strays else {}
    return CheckContent(
        passed=not strays,
        severity=_severity(worst.verdict.outcome),
        description=describe_run(stories, days=days),
        metadata={**_of_run(worst, evidence), **days_table(strays or stories), **trouble},
    )


def tell_unjudged(manifest: Manifest, gate: Gate) -> CheckContent:
    is_planned = gate.value in manifest.validation.gates
    return CheckContent(
        passed=False,
        severity=dg.AssetCheckSeverity.ERROR if is_planned else dg.AssetCheckSeverity.WARN,
        description=describe_unjudged(gate.value, is_planned=is_planned),
        metadata={RUN: manifest.run_id},
    )


def _severity(outcome: Outcome) -> dg.AssetCheckSeverity:
    is_milder = outcome in {Outcome.HELD, Outcome.WARNED}
    return dg.AssetCheckSeverity.WARN if is_milder else dg.AssetCheckSeverity.ERROR


def _of_trouble(story: GateStory, trouble: Trouble) -> Mapping[str, Any]:
    return {**trouble_lines(story, trouble), **trouble_tables(story, trouble)}


def _of_run(story: GateStory, evidence: Path) -> Mapping[str, Any]:
    return {
        RUN: story.run_id,
        JUDGED_AT: story.judged_at.isoformat(),
        "owner": story.owner,
        "severity": describe_severity(story.severity, story.override),
        "evidence": dg.MetadataValue.path(evidence / story.run_id),
    }
