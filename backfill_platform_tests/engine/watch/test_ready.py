"""Which judged runs are worth a launch of their publication, and what the others wait for."""

from dataclasses import replace

import pytest

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.modes import ExecutionMode, PublishScope
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.consent.approving import decide, draft_approval
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, load_policy
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.watch.ready import Readiness, look_at_publishable
from backfill_platform.settings import PROJECT
from backfill_platform_tests.engine.by_hand import stage_by_hand
from backfill_platform_tests.readings import BRONZE, START, week

DAYS = week()
LEAD = "data-engineering-lead"


@pytest.fixture
def strict(platform: Platform) -> Platform:
    """Under the shipped policy: seven days need the data engineering lead before publication."""
    return replace(platform, policy=load_policy(PROJECT / "governance.yaml"))


@pytest.fixture
def judged(intent):
    def judge(platform: Platform, *, held=(), **said) -> RunId:
        manifest = plan_run(platform, intent(BRONZE, DAYS, "run", **said))
        stage_by_hand(platform, manifest, dict.fromkeys(DAYS, ("a",)), held=held)
        return manifest.run_id

    return judge


def look(platform: Platform) -> tuple[Readiness, ...]:
    return look_at_publishable(platform, limit=10)


def test_what_nobody_has_to_agree_to_is_ready_once_it_is_judged(platform, judged) -> None:
    run_id = judged(platform)
    assert look(platform) == (Readiness(run_id=run_id, table=BRONZE, waits_for=""),)


def test_what_lacks_a_consent_says_whose(strict, judged) -> None:
    judged(strict)
    (found,) = look(strict)
    assert f"needs the approval of {LEAD} before it is published" in found.waits_for
    assert not found.is_ready


def test_it_is_ready_once_everybody_has_agreed(strict, judged) -> None:
    run_id = judged(strict)
    decide(strict, draft_approval(strict, run_id, principal=LEAD))
    assert [one.is_ready for one in look(strict)] == [True]


def test_what_a_gate_holds_waits_for_its_review(platform, judged) -> None:
    judged(platform, held=[START])
    (found,) = look(platform)
    assert "backfill review" in found.waits_for


def test_what_is_published_by_hand_waits_for_somebody(platform, judged) -> None:
    judged(platform, requires_manual_publish=True)
    (found,) = look(platform)
    assert "to be published by hand" in found.waits_for


@pytest.mark.parametrize(
    "said",
    [
        {"mode": ExecutionMode.DRY_RUN},
        {"publish_scope": PublishScope.DARK},
    ],
)
def test_what_is_never_published_is_not_looked_at(platform, judged, said) -> None:
    judged(platform, **said)
    assert look(platform) == ()


def test_what_is_being_computed_or_published_already_is_not_looked_at(
    platform, judged, intent
) -> None:
    publish_chunk(platform, judged(platform), DAYS)
    plan_run(platform, intent(BRONZE, DayRange.of_day(START), "other"))
    assert look(platform) == ()


def test_a_table_that_is_not_declared_any_more_is_named(platform, judged) -> None:
    judged(platform)
    (found,) = look(replace(platform, catalog=replace(platform.catalog, tables={})))
    assert found.waits_for == f"{BRONZE}, which is not declared any more"
