"""From intent and facts to a manifest, or a refusal with every reason."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import manifest_from_json, manifest_json
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import Input
from backfill_platform.planner.facts import Facts, InputFacts, TargetFacts
from backfill_platform.planner.plan import build_manifest
from backfill_platform_tests.declarations import make_catalog, make_table

RUN = RunId("bf-20260704-cases-1.10.0-001")
MARCH = DayRange(date(2025, 3, 1), date(2025, 4, 1))
HELD = PartitionSet.of_range(DayRange(date(2024, 12, 1), date(2025, 6, 1)))

INTENT = Intent(
    table="silver.cases",
    days=PartitionSet.of_range(MARCH),
    kind=RunKind.RESTATEMENT,
    mode=ExecutionMode.BACKFILL,
    knowledge=Knowledge.UP_TO_SNAPSHOT,
    reason="time zone bug",
    requested_by="data-platform",
    origin="launch:1",
    group_id="launch:1",
)

FACTS = Facts(
    now=datetime(2026, 7, 4, 12, tzinfo=UTC),
    inputs={"landing.events": InputFacts(snapshot="s1", days_present=HELD, files={})},
    reference_digests={},
    target=TargetFacts(version=7, fingerprints={date(2025, 3, 2): "f2", date(2025, 5, 1): "f5"}),
    code_digest="code",
    config_hash="config",
    git_commit=None,
)

CATALOG = make_catalog(
    make_table(inputs=(Input(name="landing.events", warm_up_days=28, late_days=10),))
)


def plan(intent: Intent = INTENT, facts: Facts = FACTS):
    return build_manifest(intent, CATALOG, facts, RUN)


def reasons(intent: Intent = INTENT, facts: Facts = FACTS) -> str:
    with pytest.raises(PlanRefused) as refused:
        plan(intent, facts)
    return "\n".join(refused.value.reasons)


def test_input_range_is_wider_than_publish_range_at_both_ends():
    manifest = plan()
    assert manifest.target.partitions.span == MARCH
    assert manifest.inputs[0].days == DayRange(date(2025, 2, 1), date(2025, 4, 11))


def test_what_was_known_then_leaves_late_arrivals_out():
    manifest = plan(replace(INTENT, knowledge=Knowledge.AS_KNOWN_THEN))
    assert manifest.inputs[0].days == DayRange(date(2025, 2, 1), date(2025, 4, 1))


def test_warm_up_is_clipped_to_what_the_input_holds():
    held = PartitionSet.of_range(DayRange(date(2025, 2, 20), date(2025, 4, 1)))
    facts = replace(
        FACTS,
        inputs={"landing.events": InputFacts(snapshot="s1", days_present=held, files={})},
    )
    assert plan(facts=facts).inputs[0].days == held.span


def test_the_newest_transform_is_the_highest_number_and_not_the_last_word():
    assert plan().transform.version == "1.10.0"


def test_the_base_names_only_partitions_of_the_run():
    assert plan().target.base == {date(2025, 3, 2): "f2"}


def test_the_same_intent_and_facts_give_the_same_digest():
    assert plan().digest == plan().digest


def test_a_manifest_survives_its_journey_through_json():
    assert manifest_from_json(manifest_json(plan())) == plan()


@pytest.mark.parametrize(
    "change",
    [
        {"reason": "another reason"},
        {"ticket": "T-1"},
        {"kind": RunKind.REPAIR},
        {"knowledge": Knowledge.AS_KNOWN_THEN},
        {"transform_version": "1.2.0"},
        {"days": PartitionSet.of_range(DayRange(date(2025, 3, 1), date(2025, 3, 31)))},
        {"requested_by": "somebody-else"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_manifest_digest_changes_with_every_field(change):
    assert plan(replace(INTENT, **change)).digest != plan().digest


def test_all_reasons_come_at_once():
    both = replace(INTENT, reason=" ", transform_version="9.9.9")
    assert "names no reason" in reasons(both)
    assert "no transform '9.9.9'; it has 1.0.0, 1.2.0, 1.10.0" in reasons(both)


def test_an_unknown_table_is_refused_with_the_known_ones():
    assert "declared are silver.cases" in reasons(replace(INTENT, table="silver.nothing"))


def test_a_range_before_the_tables_start_is_refused():
    early = PartitionSet.of_range(DayRange(date(2024, 11, 1), date(2024, 12, 5)))
    assert "starts on 2024-12-01" in reasons(replace(INTENT, days=early))


def test_a_future_range_is_refused():
    future = PartitionSet.of_range(DayRange.of_day(date(2026, 7, 5)))
    assert "lies in the future" in reasons(replace(INTENT, days=future))


def test_days_that_the_input_lacks_are_refused_with_their_number():
    held = PartitionSet.of_range(DayRange(date(2025, 3, 3), date(2025, 4, 1)))
    facts = replace(
        FACTS,
        inputs={"landing.events": InputFacts(snapshot="s1", days_present=held, files={})},
    )
    assert "holds nothing for 2 of the 31 days (first 2025-03-01)" in reasons(facts=facts)


def test_a_live_kind_in_another_mode_is_refused():
    assert "do not go together" in reasons(replace(INTENT, kind=RunKind.LIVE))
