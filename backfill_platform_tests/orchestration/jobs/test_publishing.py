"""Publishing and rolling back from a launchpad; Dagster's own catalog shows it at once."""

from datetime import date

import dagster as dg
import pytest

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.consent.approving import decide, draft_approval
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import bundle
from backfill_platform.orchestration.keys import table_key
from backfill_platform_tests.engine.by_hand import stage_by_hand
from backfill_platform_tests.readings import BRONZE, week

LEAD = "data-engineering-lead"
DAYS = week()


@pytest.fixture
def staged(strict: Platform, intent) -> Manifest:
    manifest = plan_run(strict, intent(BRONZE, DAYS, "staged"))
    stage_by_hand(strict, manifest, dict.fromkeys(DAYS, ("a",)))
    return manifest


@pytest.fixture
def approved(strict: Platform, staged: Manifest) -> Manifest:
    decide(strict, draft_approval(strict, staged.run_id, principal=LEAD))
    return staged


@pytest.fixture
def published(act, approved: Manifest) -> Manifest:
    assert act("publish_run", run=approved.run_id, acting_as="ana").result.success
    return approved


def shown(instance: dg.DagsterInstance, day: date) -> dg.AssetMaterialization:
    of_day = dg.AssetRecordsFilter(asset_key=table_key(BRONZE), asset_partitions=[day.isoformat()])
    (newest,) = instance.fetch_materializations(of_day, limit=1).records
    assert newest.asset_materialization is not None
    return newest.asset_materialization


def test_publishing_shows_in_dagster_and_says_who_asked(act, strict, instance, approved):
    acted = act("publish_run", run=approved.run_id, acting_as="ana")
    assert acted.outcome["state"] == RunState.PUBLISHED
    assert "published for ana; 7 partitions changed" in acted.outcome["outcome"]
    assert shown(instance, DAYS.start).metadata["accepted run"].value == approved.run_id
    (asked,) = [one for one in bundle(strict, approved.run_id).records() if one.kind == "asked"]
    assert (asked.body["what"], asked.body["by"]) == ("publish", "ana")


def test_publishing_twice_equals_publishing_once(act, strict, published):
    before = strict.ledger.events(published.run_id)
    again = act("publish_run", run=published.run_id, acting_as="ana")
    assert "0 partitions changed" in again.outcome["outcome"]
    assert strict.ledger.events(published.run_id) == before


def test_a_part_is_published_alone(act, strict, approved):
    act("publish_run", run=approved.run_id, acting_as="ana", days="2025-01-01..2025-01-07")
    assert len(strict.ledger.accepted(BRONZE, DAYS)) == 7


def test_publishing_without_consent_is_refused_and_changes_nothing(act, strict, staged):
    refused = act("publish_run", run=staged.run_id, acting_as="ana")
    assert f"needs the approval of {LEAD} before it is published" in refused.refusal
    assert strict.ledger.accepted(BRONZE, DAYS) == {}


def test_publishing_what_is_not_staged_is_refused(act, strict, intent):
    run_id = plan_run(strict, intent(BRONZE, DAYS, "planned")).run_id
    assert "negative or missing" in act("publish_run", run=run_id, acting_as="ana").refusal


def test_a_rollback_waits_for_consent_without_failing_and_goes_on_after_it(
    act, strict, instance, published
):
    call = {"run": published.run_id, "acting_as": "ana", "reason": "not as announced"}
    waiting = act("roll_back_run", **call)
    assert waiting.outcome["state"] == RunState.AWAITING_APPROVAL
    assert "launch this job again" in waiting.outcome["outcome"]
    assert shown(instance, DAYS.start).metadata["accepted run"].value == published.run_id
    decide(strict, draft_approval(strict, waiting.outcome["run"], principal="manager"))
    done = act("roll_back_run", **call)
    assert (done.outcome["run"], done.outcome["state"]) == (waiting.outcome["run"], "PUBLISHED")
    assert strict.ledger.run(published.run_id).state is RunState.ROLLED_BACK
    assert shown(instance, DAYS.start).metadata["rolled back by"].value == done.outcome["run"]


def test_a_rollback_of_what_is_not_published_is_refused(act, strict, staged):
    refused = act("roll_back_run", run=staged.run_id, acting_as="ana", reason="wrong")
    assert staged.run_id in refused.refusal
    assert len(strict.ledger.runs()) == 1


def test_what_died_after_its_commit_is_told_by_the_same_job_again(act, strict, instance, published):
    """Dagster has heard of nothing: another instance stands for that."""
    instance.wipe_assets([table_key(BRONZE)])
    act("publish_run", run=published.run_id, acting_as="ana")
    assert shown(instance, DAYS.last).metadata["accepted run"].value == published.run_id
