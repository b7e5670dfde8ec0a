"""What a launch is refused for, in its first seconds: a sentence, and nothing recorded or computed.

Spark never starts here, so whoever refuses has not waited for it.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal

import dagster as dg
import pytest

from backfill_platform.domain.errors import LaunchFailed
from backfill_platform.domain.estimates import CostRate
from backfill_platform.domain.limits import Limits
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.governance.policy import DEFAULT_RATE
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.build import assemble
from backfill_platform.orchestration.local_runs import LocalDagster
from backfill_platform_tests.orchestration.launching import SPARKLESS
from backfill_platform_tests.readings import BRONZE, land, total, week

DAYS = week()
FIRST, _ = DAYS.split(5)
WHY = {tags.REASON: "tests"}

Refused = Callable[..., str]


@pytest.fixture
def refused(tmp_path) -> Iterator[Refused]:
    """The sentence that a launch of this table's staging asset is refused with."""
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:

        def launch(
            platform: Platform, run_tags: dict[str, str] = WHY, days: DayRange = FIRST
        ) -> str:
            dagster = LocalDagster(
                platform=platform,
                definitions=assemble(platform, SPARKLESS),
                instance=instance,
                start_spark=pytest.fail,
            )
            with pytest.raises(LaunchFailed) as refusal:
                dagster.stage(platform.catalog.tables[BRONZE], days, run_tags)
            return str(refusal.value)

        yield launch


@pytest.fixture
def planned(platform: Platform, intent) -> Manifest:
    return plan_run(platform, intent(BRONZE, DAYS, "planned"))


def limited(platform: Platform, limits: Limits) -> Platform:
    return replace(platform, policy=replace(platform.policy, limits=limits))


def with_other_code(platform: Platform) -> Platform:
    """The same version of the transform, as another function."""
    spec = platform.catalog.tables[BRONZE]
    changed = replace(spec, transforms=(replace(spec.transforms[0], function=total),))
    tables = {**platform.catalog.tables, BRONZE: changed}
    return replace(platform, catalog=replace(platform.catalog, tables=tables))


@pytest.mark.parametrize("said", [{}, {tags.REASON: "  "}])
def test_without_a_reason(platform, refused, said):
    assert "say why these numbers change" in refused(platform, said)
    assert platform.ledger.runs() == ()


def test_over_the_limit_of_rows(platform, refused):
    assert "10 rows to read exceed the limit of 3; plan fewer days" in refused(
        limited(platform, Limits(max_rows=3))
    )
    assert platform.ledger.runs() == ()


def test_over_the_limit_of_cost(platform, refused):
    """A dollar and more for a row."""
    dear = CostRate(low=Decimal(1_000_000), high=Decimal(3_000_000))
    priced = replace(platform, policy=replace(platform.policy, rates={DEFAULT_RATE: dear}))
    sentence = refused(limited(priced, Limits(max_cost_usd=Decimal(1))))
    assert "20.00 US dollars, more than the limit of 1; plan fewer days" in sentence
    assert platform.ledger.runs() == ()


def test_on_partitions_that_another_run_holds(platform, refused, planned):
    sentence = refused(platform)
    assert f"run {planned.run_id} of tests is PLANNED and may publish {FIRST}" in sentence
    assert [run.run_id for run in platform.ledger.runs()] == [planned.run_id]


def test_a_live_launch_on_partitions_that_a_backfill_has_frozen(platform, refused, planned):
    sentence = refused(platform, WHY | {tags.KIND: "LIVE"})
    assert f"wait for it, `backfill cancel {planned.run_id}`" in sentence
    assert [run.run_id for run in platform.ledger.runs()] == [planned.run_id]


def test_of_days_whose_input_is_missing(platform, refused):
    sentence = refused(platform, days=week(date(2025, 2, 1)))
    assert "input landing.readings holds nothing for 7 of the 7 days" in sentence
    assert platform.ledger.runs() == ()


def test_with_a_version_of_the_transform_that_is_not_deployed(platform, refused):
    sentence = refused(platform, WHY | {tags.TRANSFORM_PREFIX + BRONZE: "9.9.9"})
    assert "bronze.readings has no transform '9.9.9'; it has 1.0.0" in sentence
    assert platform.ledger.runs() == ()


def test_of_a_run_that_was_planned_with_other_code(platform, refused, planned):
    sentence = refused(with_other_code(platform), {tags.RUN: planned.run_id})
    assert "the code of load-readings/1.0.0: planned" in sentence
    assert "Deploy what the manifest names, or plan a new run" in sentence
    assert platform.ledger.chunks(planned.run_id) == ()


def test_of_a_run_whose_input_was_landed_anew(platform, refused, planned):
    land(platform.landing, FIRST, [("a", 7)])
    sentence = refused(platform, {tags.RUN: planned.run_id})
    assert f"landing.readings was landed again for {FIRST}" in sentence
    assert platform.ledger.chunks(planned.run_id) == ()
