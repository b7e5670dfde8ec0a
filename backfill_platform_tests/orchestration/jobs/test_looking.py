"""What comparing and reproducing refuse before Spark starts."""

import pytest

from backfill_platform.engine.plan.planning import plan_run
from backfill_platform_tests.engine.by_hand import stage_by_hand
from backfill_platform_tests.readings import BRONZE, week

DAYS = week()


@pytest.fixture
def planned(strict, intent):
    return plan_run(strict, intent(BRONZE, DAYS, "planned"))


@pytest.mark.parametrize("job", ["compare_run", "reproduce_run"])
def test_what_nobody_has_staged_is_refused_before_spark_starts(act, planned, job):
    assert planned.run_id in act(job, run=planned.run_id, acting_as="ana").refusal


def test_comparing_by_an_unknown_column_names_the_known_ones(act, strict, planned):
    stage_by_hand(strict, planned, dict.fromkeys(DAYS, ("a",)))
    refused = act("compare_run", run=planned.run_id, acting_as="ana", by=["metre"])
    assert "`by`: bronze.readings has no 'metre'; it has day, meter, amount" in refused.refusal
