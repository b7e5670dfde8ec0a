"""The job that plans: what the launchpad says becomes a manifest, and a page."""

import re

import pytest
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution.api import execute_run

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import RunKind
from backfill_platform.engine.loading import load_manifest
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.build import assemble
from backfill_platform.orchestration.keys import staging_key_of
from backfill_platform_tests.orchestration.launching import SPARKLESS
from backfill_platform_tests.readings import BRONZE, week

WEEK = {"table": BRONZE, "days": str(week()), "reason": "wrong zone", "acting_as": "ana"}


@pytest.fixture
def planned(act, strict):
    def plan(**more):
        acted = act("plan_only", **(WEEK | more))
        assert acted.result.success
        return acted, load_manifest(strict, acted.outcome["run"])

    return plan


def test_a_plan_is_recorded_for_whoever_acts(planned, strict):
    _, manifest = planned(ticket="SLA-1", kind="RESTATEMENT", transform_version="1.0.0")
    assert (manifest.requested_by, manifest.reason) == ("ana", "wrong zone")
    assert (manifest.ticket, manifest.kind) == ("SLA-1", RunKind.RESTATEMENT)
    assert strict.ledger.run(manifest.run_id).state is RunState.PLANNED


def test_its_page_shows_what_it_takes_who_has_to_agree_and_what_follows(planned):
    acted, manifest = planned()
    assert acted.rows("approvals") == [
        {
            "role": "data-engineering-lead",
            "before": "PUBLICATION",
            "signed": "no",
            "agreed": "missing",
        }
    ]
    (impact,) = acted.rows("plan: impact")
    assert (impact["table"], impact["owner"]) == ("silver.totals", "meters")
    assert [row["what"] for row in acted.rows("plan: estimate")] == [
        "rows read",
        "rows written",
        "seconds",
        "cost",
    ]
    assert f"{tags.RUN}: {manifest.run_id}" in acted.outcome["do now in Dagster"]


def test_the_plan_shows_on_the_page_of_the_staging_asset_too(planned, instance):
    _, manifest = planned()
    (seen,) = instance.fetch_observations(staging_key_of(BRONZE), limit=10).records
    assert seen.asset_observation.metadata["run"].value == manifest.run_id


def test_limits_and_words_about_judging_reach_the_manifest(planned):
    _, manifest = planned(
        max_rows=1000,
        max_cost_usd=12.5,
        severity=["values_valid=WARN"],
        manual_publish=True,
        knowledge="AS_KNOWN_THEN",
    )
    assert manifest.safety.limits.max_rows == 1000
    assert str(manifest.safety.limits.max_cost_usd) == "12.5"
    assert manifest.safety.requires_manual_publish
    assert manifest.validation.overridden
    assert manifest.knowledge == "AS_KNOWN_THEN"


def test_executed_again_it_finds_the_run_that_it_planned(planned, strict, instance):
    acted, manifest = planned()
    first = instance.get_run_by_id(acted.result.run_id)
    job = assemble(strict, SPARKLESS).resolve_job_def("plan_only")
    again = instance.create_run_for_job(
        job_def=job,
        run_config=first.run_config,
        parent_run_id=first.run_id,
        root_run_id=first.run_id,
    )
    assert execute_run(InMemoryJob(job), again, instance).success
    assert [one.run_id for one in strict.ledger.runs()] == [manifest.run_id]


def test_nothing_is_recorded_when_that_is_said(act, strict):
    acted = act("plan_only", **WEEK, record=False)
    assert "Nothing is recorded" in acted.outcome["outcome"]
    assert acted.outcome["reason"] == "wrong zone"
    assert strict.ledger.runs() == ()


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"table": "gold.nothing"}, r"there is no table 'gold.nothing'; there are bronze.readings"),
        ({"days": "soon"}, r"`days`: 'soon' names no days; write 2025-01-31"),
        ({"days": ""}, r"`days`: say which"),
        ({"reason": " "}, r"say why these numbers change"),
        ({"severity": ["values_valid"]}, r"`severity`: .* write GATE=SEVERITY"),
        ({"as_of": "soon"}, r"`as_of` is 'soon', which is no day"),
        ({"max_rows": 3}, r"3"),
        ({"acting_as": ""}, r"say who acts, in `acting_as`"),
    ],
)
def test_what_cannot_be_planned_is_refused_with_the_sentence_and_recorded_nowhere(
    act, strict, said, sentence
):
    refused = act("plan_only", **(WEEK | said))
    assert re.search(sentence, refused.refusal)
    assert strict.ledger.runs() == ()
