"""How much of a run becomes visible at once: what the intent says, or else what its table declares.

Also what a swap of the whole table forbids. When and whether it is published is the engine's.
"""

from collections.abc import Iterator

from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import NEVER_PUBLISHING
from backfill_platform.domain.modes import PublishMode, PublishScope
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.tables import TableSpec
from backfill_platform.planner.draft import Draft
from backfill_platform.planner.wording import name_days


def choose_scope(intent: Intent, spec: TableSpec) -> PublishScope:
    return intent.publish_scope or spec.usual_scope


def is_never_published(intent: Intent, spec: TableSpec) -> bool:
    is_dark = choose_scope(intent, spec) is PublishScope.DARK
    return is_dark or intent.mode in NEVER_PUBLISHING


def is_published_by_hand(intent: Intent, spec: TableSpec) -> bool:
    """What is to be compared first cannot follow staging by itself."""
    is_dual = choose_scope(intent, spec) is PublishScope.DUAL_READ
    return intent.requires_manual_publish or is_dual


def scope_reasons(draft: Draft) -> Iterator[str]:
    intent, spec = draft.intent, draft.spec
    if spec.publish_mode is not PublishMode.SHADOW_SWAP:
        return
    if choose_scope(intent, spec) is PublishScope.PROGRESSIVE:
        yield (
            f"{spec.full_name} is swapped as a whole, so it cannot become visible chunk by chunk; "
            "use `--publish-scope whole-run` or `dual-read`"
        )
    if not is_never_published(intent, spec):
        yield from _lost_days(draft)


def _lost_days(draft: Draft) -> Iterator[str]:
    """Invariant: a swap loses no day that the table holds
    (test_a_swap_that_would_lose_days_is_refused_with_the_days_to_ask_for)."""
    lost = draft.facts.target.other_days
    if lost:
        whole = PartitionSet.of_days([*draft.intent.days, *lost])
        yield (
            f"{draft.spec.full_name} is swapped as a whole, and this run does not compute "
            f"{name_days(lost)}, which it holds and would lose; ask for `--full` or "
            f'`--days "{whole}"`'
        )
