"""Whether the same run would give the same rows again, as far as the transform's source tells.

Orders that are left open show only in the plan that Spark makes of it: `backfill plan --examine`
looks at that, and so does every run before it computes anything.
"""

from collections.abc import Iterator

from backfill_platform.domain.findings import Check, Finding, Severity
from backfill_platform.planner.conclude import Note, conclude
from backfill_platform.planner.draft import Draft
from backfill_platform.planner.scope import choose_transform


def deterministic(draft: Draft) -> Finding:
    return conclude(
        Check.DETERMINISTIC,
        _notes(draft),
        otherwise="the code that it reaches reads no clock, no chance, no session and no network",
    )


def _notes(draft: Draft) -> Iterator[Note]:
    transform = choose_transform(draft.spec, draft.intent.transform_version)
    name = f"{draft.spec.transform_name}/{transform.version}" if transform else ""
    for sighting in draft.facts.code.moving:
        yield Severity.REFUSE, f"{name} would give other rows next time: {sighting}"
    if transform and transform.ties:
        yield Severity.PASS, f"an order is left open, and its owner says why: {transform.ties}"
