"""Whose act a job is: whom a proxy has signed in, or whom the launchpad names."""

from typing import Any

import dagster as dg
import pytest

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.jobs.acting import Desk
from backfill_platform.orchestration.jobs.registered import make_jobs
from backfill_platform_tests.readings import BRONZE, week


@pytest.fixture
def cancel(launch, strict, intent):
    """Behind a proxy: who is signed in, and what the launchpad says."""
    run_id = plan_run(strict, intent(BRONZE, week(), "planned")).run_id

    def cancel(signed_in: str, acting_as: str = ""):
        acted = launch(
            strict,
            "cancel_run",
            run_tags={tags.IDENTITY: signed_in},
            is_signed_in=True,
            run=run_id,
            acting_as=acting_as,
            reason="planned by mistake",
        )
        return acted, strict.ledger.run(run_id).state, strict.ledger.events(run_id)[-1].actor

    return cancel


@pytest.mark.parametrize("acting_as", ["", "ana"])
def test_whoever_is_signed_in_acts(cancel, acting_as):
    _, state, actor = cancel("ana", acting_as)
    assert (state, actor) == (RunState.CANCELLED, "ana")


def test_nobody_acts_under_another_name_than_they_signed_in_with(cancel):
    acted, state, _ = cancel("ana", "director")
    assert "ana is signed in and `acting_as` says 'director'" in acted.refusal
    assert state is RunState.PLANNED


def test_nobody_acts_past_the_proxy(cancel):
    acted, state, _ = cancel("", "director")
    assert "nobody is signed in" in acted.refusal
    assert state is RunState.PLANNED


def test_a_tag_signs_nobody_in_where_no_proxy_does(launch, strict, intent):
    run_id = plan_run(strict, intent(BRONZE, week(), "planned")).run_id
    signed_in = {tags.IDENTITY: "director"}
    refused = launch(strict, "cancel_run", run_tags=signed_in, run=run_id, reason="mistake")
    assert "say who acts, in `acting_as`" in refused.refusal


def test_the_dagster_run_of_an_act_is_found_by_the_run_that_it_was_about(act, strict, intent):
    run_id = plan_run(strict, intent(BRONZE, week(), "planned")).run_id
    acted = act("cancel_run", run=run_id, acting_as="ana", reason="mistake")
    told = acted.instance.get_run_by_id(acted.result.run_id)
    assert told.tags[tags.RUN_ID_PREFIX + BRONZE] == run_id


def test_every_job_has_one_step_and_a_launchpad_whose_fields_say_what_they_mean(platform):
    desk = Desk(platform=platform, is_signed_in=False)
    jobs = make_jobs(desk)
    fields = [field for job in jobs for field in _fields(job)]
    assert {job.name: job.graph.nodes[0].name for job in jobs} == {
        "plan_only": "plan",
        "approve_run": "approve",
        "reject_run": "reject",
        "review_run": "review",
        "publish_run": "publish",
        "roll_back_run": "roll_back",
        "compare_run": "compare",
        "reproduce_run": "reproduce",
        "cancel_run": "cancel",
    }
    assert all(field.description for field in fields)
    assert all(job.description and len(job.graph.nodes) == 1 for job in jobs)


def _fields(job: dg.JobDefinition) -> list[Any]:
    (node,) = job.graph.nodes
    schema: Any = node.definition.config_schema
    config = schema.config_type
    return [*config.fields.values()]
