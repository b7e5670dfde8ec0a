"""A launch may be told by the config of its staging assets what it could be told by tags."""

import dagster as dg
import pytest

from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.modes import RunKind
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.build import assemble
from backfill_platform.orchestration.launch_words import LaunchConfig, words_of_launch
from backfill_platform.orchestration.launches import read_intent
from backfill_platform_tests.orchestration.launching import SPARKLESS, failure_of
from backfill_platform_tests.readings import BRONZE

STAGE_BRONZE, STAGE_SILVER = "staging__bronze__readings", "staging__silver__totals"
DAY = {tags.RANGE_START: "2025-01-01", tags.RANGE_END: "2025-01-02"}


@pytest.fixture
def bronze(platform):
    return platform.catalog.tables[BRONZE]


@pytest.fixture
def told(bronze):
    """Launches an asset with this config, and reads what it is for."""

    def launch(given: LaunchConfig, **launch_tags: str) -> Intent:
        found = []

        @dg.asset(partitions_def=dg.DailyPartitionsDefinition("2025-01-01"))
        def listener(context: dg.AssetExecutionContext, config: LaunchConfig) -> None:
            found.append(read_intent(context, bronze, config))

        dg.materialize(
            [listener],
            partition_key="2025-01-02",
            tags=launch_tags,
            run_config=dg.RunConfig(ops={"listener": given}),
        )
        return found[0]

    return launch


def test_config_says_what_tags_say(told):
    intent = told(
        LaunchConfig(
            reason="wrong zone",
            ticket="SLA-1",
            requested_by="ana",
            kind="restatement",
            transform_version="1.0.0",
        )
    )
    assert (intent.reason, intent.ticket, intent.requested_by) == ("wrong zone", "SLA-1", "ana")
    assert (intent.kind, intent.transform_version) == (RunKind.RESTATEMENT, "1.0.0")


def test_what_config_leaves_unsaid_is_left_to_tags(told):
    intent = told(LaunchConfig(ticket="SLA-1"), **{tags.REASON: "wrong zone"})
    assert (intent.reason, intent.ticket) == ("wrong zone", "SLA-1")
    assert (intent.requested_by, intent.kind) == ("dagster", RunKind.BACKFILL)


def test_config_and_tag_ask_for_every_day_to_be_computed(told):
    said = {tags.REASON: "tests"}
    assert not told(LaunchConfig(), **said).computes_all
    assert told(LaunchConfig(compute_all=True), **said).computes_all
    assert told(LaunchConfig(), **said, **{tags.COMPUTE_ALL: "True"}).computes_all


def test_what_is_neither_true_nor_false_is_refused(told):
    with pytest.raises(PlanRefused, match=r"is 'maybe'; it may be true or false"):
        told(LaunchConfig(), **{tags.COMPUTE_ALL: "maybe"})


def test_the_same_said_twice_is_fine(bronze):
    words = words_of_launch({tags.KIND: "REPAIR"}, LaunchConfig(kind="repair"), bronze)
    assert words.texts == {tags.KIND: "REPAIR"}


@pytest.mark.parametrize(
    ("tag", "config"),
    [
        (tags.REASON, LaunchConfig(reason="another")),
        (tags.TICKET, LaunchConfig(ticket="another")),
        (tags.REQUESTED_BY, LaunchConfig(requested_by="another")),
        (tags.KIND, LaunchConfig(kind="another")),
        (tags.TRANSFORM_PREFIX + BRONZE, LaunchConfig(transform_version="another")),
    ],
)
def test_what_tag_and_config_say_differently_is_refused_in_one_sentence(bronze, tag, config):
    with pytest.raises(PlanRefused, match=rf"tag `{tag}` says 'one' and `\w+` in the config of"):
        words_of_launch({tag: "one"}, config, bronze)


def test_an_unknown_word_is_named_by_where_it_was_said(told):
    with pytest.raises(PlanRefused, match=r"config `kind` is 'whatever'; it may be BACKFILL"):
        told(LaunchConfig(kind="whatever"))


def test_a_staging_asset_is_told_by_its_own_config_and_ignores_that_of_others(platform):
    """As the launch dialog sends it: one document for every Dagster run of the backfill."""
    said = {STAGE_BRONZE: {"kind": "whatever"}, STAGE_SILVER: {"reason": "another table's"}}
    result = (
        assemble(platform, SPARKLESS)
        .resolve_implicit_global_asset_job_def()
        .execute_in_process(
            asset_selection=[dg.AssetKey(["staging", "bronze", "readings"])],
            tags=DAY,
            run_config={"ops": {name: {"config": config} for name, config in said.items()}},
            raise_on_error=False,
        )
    )
    assert "config `kind` is 'whatever'" in failure_of(result)
    assert platform.ledger.runs() == ()
