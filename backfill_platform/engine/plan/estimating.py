"""What a run would take, before anybody decides whether it may be planned. Writes nothing.

A plan is refused where another run holds the partitions or an input is missing; an estimate is not,
because whoever asks for it wants a number and not a run.
"""

from backfill_platform.domain.estimates import Estimate
from backfill_platform.domain.intents import Intent
from backfill_platform.engine.plan.facts import gather_facts, policy_terms
from backfill_platform.engine.platform import Platform
from backfill_platform.planner.draft import draft_run
from backfill_platform.planner.plan import check_intent


def estimate_run(platform: Platform, intent: Intent) -> Estimate:
    spec = check_intent(intent, platform.catalog)
    facts, terms = gather_facts(platform, intent, spec), policy_terms(platform)
    return draft_run(intent, spec, platform.catalog, facts, terms).estimate
