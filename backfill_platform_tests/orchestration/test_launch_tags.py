"""What a launch says by its tags of how its run is judged; refused before it is computed."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import dagster as dg
import pytest

from backfill_platform.domain.errors import LaunchFailed
from backfill_platform.domain.intents import ReferenceChoice
from backfill_platform.domain.modes import ReferenceSemantics as S
from backfill_platform.domain.quality import ExpectedChange, Tolerance
from backfill_platform.domain.verdicts import Gate, GateSeverity
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.build import assemble
from backfill_platform.orchestration.launch_words import parse_reference_choice
from backfill_platform.orchestration.launches import read_intent
from backfill_platform.orchestration.local_runs import LocalDagster
from backfill_platform.orchestration.materializations import run_metadata
from backfill_platform_tests.orchestration.launching import SPARKLESS
from backfill_platform_tests.planner.worlds import INTENT, plan
from backfill_platform_tests.readings import BRONZE, week


def no_spark():
    raise AssertionError("a launch that is refused computes nothing")


@pytest.fixture
def dagster(platform, tmp_path):
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        yield LocalDagster(
            platform=platform,
            definitions=assemble(platform, SPARKLESS),
            instance=instance,
            start_spark=no_spark,
        )


@pytest.fixture
def told(dagster):
    """Launches an asset with these tags, as Dagster takes them, and reads what it is for."""
    spec = dagster.platform.catalog.tables[BRONZE]
    found = []

    @dg.asset(partitions_def=dg.DailyPartitionsDefinition("2025-01-01"))
    def listener(context: dg.AssetExecutionContext) -> None:
        found.append(read_intent(context, spec))

    def launch(**said: str):
        dg.materialize(
            [listener],
            instance=dagster.instance,
            partition_key="2025-01-02",
            tags={f"backfill/{name}": text for name, text in said.items()} | {tags.REASON: "tests"},
        )
        return found[0]

    return launch


def test_a_launch_that_says_nothing_is_judged_as_its_table_declares(told):
    intent = told()
    assert (intent.severities, intent.tolerances, intent.expected_changes) == ({}, {}, ())


def test_tags_say_it_as_the_command_line_does_with_commas_between(told):
    intent = told(
        severity="values_valid=WARN, reconciled=hold",
        tolerance="rows=2,amount=0.5%",
        expect="amount=-90%..-60%",
    )
    assert intent.severities == {
        Gate.VALUES_VALID: GateSeverity.WARN,
        Gate.RECONCILED: GateSeverity.HOLD,
    }
    assert intent.tolerances == {
        "rows": Tolerance(absolute=Decimal(2)),
        "amount": Tolerance(percent=Decimal("0.5")),
    }
    assert intent.expected_changes == (
        ExpectedChange(measure="amount", least_percent=Decimal(-90), most_percent=Decimal(-60)),
    )


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("v1:CURRENT", ReferenceChoice(version="v1", semantics=S.CURRENT)),
        ("v1", ReferenceChoice(version="v1", semantics=S.CORRECTED_TRUTH)),
        (":as_recorded_then", ReferenceChoice(version=None, semantics=S.AS_RECORDED_THEN)),
    ],
)
def test_a_tag_names_a_version_of_reference_data_or_lets_its_meaning_choose(text, choice):
    assert parse_reference_choice(text) == choice


@pytest.mark.parametrize(
    ("tag", "text", "remedy"),
    [
        (tags.SEVERITY, "values_valid", "tag `backfill/severity`: .* write GATE=SEVERITY"),
        (tags.TOLERANCE, "rows=few", "tag `backfill/tolerance`: .* write MEASURE=2"),
        (tags.EXPECT, "rows=-60%", "tag `backfill/expect`: .* write MEASURE=-90%"),
        (tags.SEVERITY, "key_unique=WARN", "gate key_unique stays BLOCK"),
    ],
)
def test_a_launch_whose_tags_say_it_wrongly_is_refused_and_plans_nothing(
    dagster, tag, text, remedy
):
    spec = dagster.platform.catalog.tables[BRONZE]
    with pytest.raises(LaunchFailed, match=remedy):
        dagster.stage(spec, week(days=2), {tags.REASON: "tests", tag: text})
    assert dagster.platform.ledger.runs() == ()


def test_what_is_published_says_in_dagster_that_it_was_judged_otherwise():
    milder = plan(replace(INTENT, severities={Gate.VALUES_VALID: GateSeverity.WARN}))
    said = run_metadata(Path("evidence"), milder)["judged otherwise than its table"]
    assert said == "gate values_valid is WARN, and BLOCK by its table"


def test_what_was_judged_as_declared_says_nothing_of_it():
    assert "judged otherwise than its table" not in run_metadata(Path("evidence"), plan())
