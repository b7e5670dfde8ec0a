"""Which days are left as they are accepted: those of which it is proved that nothing changed."""

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from backfill_platform.domain.manifests import InputType, PinnedInput, PinnedReference
from backfill_platform.domain.measurements import Content
from backfill_platform.domain.modes import (
    ExecutionMode,
    Knowledge,
    LiveConflicts,
    PublishMode,
    PublishScope,
    ReferenceSemantics,
    RunKind,
)
from backfill_platform.domain.partitions import Boundary, DayRange
from backfill_platform.domain.privacy import PinnedDeletions
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.domain.tables import Input, KeyedMerge
from backfill_platform.domain.transforms import InputWindow
from backfill_platform.planner.facts import Facts, FormerFacts, ReadTable, SchemaFacts
from backfill_platform.planner.read_alike import has_read_alike
from backfill_platform.planner.unchanged import short_gaps
from backfill_platform_tests.declarations import SCHEMA
from backfill_platform_tests.planner.worlds import (
    CATALOG,
    FACTS,
    INTENT,
    MARCH,
    OTHER_RUN,
    make_world,
    plan,
    with_target,
)

ALL_OF_IT = frozenset(MARCH)
THE_TENTH = date(2025, 3, 10)
SCHEMA_FACTS = SchemaFacts(columns=SCHEMA.columns, declared=SCHEMA.columns)
KNOWN = with_target(schema=SCHEMA_FACTS)


def former_facts(facts: Facts = KNOWN, *, shown: Collection[date] = ALL_OF_IT, **changes) -> Facts:
    """All of March is accepted as a run has computed it whose manifest `changes` make."""
    former = replace(plan(facts=KNOWN), run_id=OTHER_RUN, **changes)
    known = FormerFacts(
        manifests={OTHER_RUN: former},
        shown=dict.fromkeys(shown, OTHER_RUN),
        contents=dict.fromkeys(shown, Content(2, "c")),
        tables={},
    )
    return replace(facts, former=known)


def left(facts: Facts, intent=INTENT, catalog=CATALOG) -> frozenset[date]:
    return plan(intent, facts=facts, catalog=catalog).unchanged_days


def landed_again(*days: date) -> Facts:
    held = KNOWN.inputs["landing.events"]
    files = {**held.files, **dict.fromkeys(days, "another")}
    return replace(KNOWN, inputs={"landing.events": replace(held, files=files)})


def test_what_is_computed_from_the_same_is_left():
    manifest = plan(facts=former_facts())
    assert manifest.unchanged_days == ALL_OF_IT
    assert [one.run_id for one in manifest.unchanged] == [OTHER_RUN]
    assert all(manifest.computed_parts(chunk) == () for chunk in manifest.chunks)


def test_a_plan_that_leaves_every_day_reads_nothing():
    expected = plan(facts=former_facts()).estimate
    assert (expected.rows_read, expected.rows_out.expected, expected.cost_usd.high) == (0, 0, 0)
    assert "31 partitions of 31 would come out as they are" in expected.basis[0]


def test_a_day_that_landed_again_computes_the_days_whose_windows_hold_it():
    facts = former_facts(landed_again(THE_TENTH))
    reached = DayRange(date(2025, 3, 1), date(2025, 4, 1)).clip(
        DayRange.of_day(THE_TENTH).widen(before_days=10, after_days=28)
    )
    assert left(facts) == ALL_OF_IT - frozenset(reached or ())
    late = former_facts(landed_again(date(2025, 4, 5)))
    assert left(late) == ALL_OF_IT - frozenset(DayRange(date(2025, 3, 26), date(2025, 4, 1)))


def test_an_estimate_counts_what_the_computed_days_read():
    facts = former_facts(landed_again(date(2025, 4, 5)))
    assert plan(facts=facts).estimate.rows_read == (6 + 28 + 10) * 100


def test_days_that_do_not_hold_what_a_run_left_there_are_computed():
    assert left(former_facts(shown=ALL_OF_IT - {THE_TENTH, *MARCH.split(20)[1]})) == frozenset(
        DayRange(MARCH.start, MARCH.start + timedelta(days=20))
    ) - {THE_TENTH}


def test_a_short_gap_between_computed_days_is_computed_with_them():
    chunk = DayRange(date(2025, 3, 1), date(2025, 3, 21))
    unchanged = ALL_OF_IT - {date(2025, 3, day) for day in (2, 6, 11)}
    gap = DayRange(date(2025, 3, 3), date(2025, 3, 6))
    assert short_gaps([chunk], unchanged) == frozenset(gap)


FORMER = plan(facts=KNOWN)
CODE, TARGET, JUDGED = FORMER.transform, FORMER.target, FORMER.validation
EVENTS = FORMER.inputs[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"transform": replace(CODE, version="1.2.0")},
        {"transform": replace(CODE, code_digest="other")},
        {"transform": replace(CODE, config_hash="other")},
        {"transform": replace(CODE, lock_digest="other")},
        {"transform": replace(CODE, container_image="other")},
        {
            "references": (
                PinnedReference(
                    name="calendar",
                    version="winter",
                    semantics=ReferenceSemantics.CURRENT,
                    digest="d",
                ),
            )
        },
        {"deletions": PinnedDeletions(name="forgotten", digest="d", subjects=1)},
        {"knowledge": Knowledge.AS_KNOWN_THEN},
        {"target": replace(TARGET, schema_digest="other")},
        {"target": replace(TARGET, boundary=Boundary.MONTH)},
        {"target": replace(TARGET, publish_mode=PublishMode.APPEND_ONLY)},
        {"validation": replace(JUDGED, quality_digest="other")},
        {"validation": replace(JUDGED, quality_digest=None)},
        {"validation": replace(JUDGED, gates=JUDGED.gates[1:])},
        {"inputs": (replace(EVENTS, schema_digest="other"),)},
        {"inputs": (replace(EVENTS, window=InputWindow(before_days=27, after_days=10)),)},
        {"inputs": ()},
    ],
)
def test_what_differs_is_computed(changes):
    assert left(former_facts(**changes)) == frozenset()


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": RunKind.REPROCESSING},
        {"kind": RunKind.REPAIR},
        {"mode": ExecutionMode.DRY_RUN},
        {"mode": ExecutionMode.REPLAY},
        {"publish_scope": PublishScope.DARK},
        {"publish_scope": PublishScope.DUAL_READ},
        {"computes_all": True},
    ],
)
def test_a_run_that_is_to_compute_computes_all(changes):
    manifest = plan(replace(INTENT, **changes), facts=former_facts())
    assert manifest.unchanged == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"skips_unchanged": False},
        {"publish_mode": PublishMode.APPEND_ONLY},
        {"publish_mode": PublishMode.MERGE_BY_KEY, "merge": KeyedMerge(version_column="amount")},
        {"live_conflicts": LiveConflicts.VERSIONED},
    ],
)
def test_a_table_that_is_not_simply_replaced_is_computed(changes):
    spec = replace(CATALOG.tables["silver.cases"], **changes)
    catalog = replace(CATALOG, tables={"silver.cases": spec})
    facts = replace(former_facts(), target=replace(KNOWN.target, fingerprints={}))
    asked = replace(INTENT, kind=RunKind.BACKFILL)
    assert left(facts, asked, catalog) == frozenset()


@pytest.mark.parametrize("word", ["run_id", "reason", "run_started_at"])
def test_rows_that_tell_of_their_run_are_computed(word):
    code = replace(KNOWN.code, run_words=frozenset({word}))
    assert left(former_facts(replace(KNOWN, code=code))) == frozenset()


def test_a_transform_that_reads_its_mode_is_only_left_in_the_same_mode():
    facts = replace(KNOWN, code=replace(KNOWN.code, run_words=frozenset({"mode"})))
    assert left(former_facts(facts)) == ALL_OF_IT
    assert left(former_facts(facts, mode=ExecutionMode.LIVE)) == frozenset()
    assert left(former_facts(mode=ExecutionMode.LIVE)) == ALL_OF_IT


def test_a_run_that_changes_the_columns_computes_all():
    fewer = SchemaFacts(columns=SCHEMA.columns[:-1], declared=SCHEMA.columns)
    target = replace(KNOWN.target, schema=fewer)
    assert left(former_facts(replace(KNOWN, target=target))) == frozenset()


def test_a_month_is_left_whole_or_not_at_all():
    catalog = make_world(boundary=Boundary.MONTH, inputs=(Input(name="landing.events"),))
    former = replace(plan(facts=KNOWN, catalog=catalog), run_id=OTHER_RUN)
    known = replace(former_facts().former, manifests={OTHER_RUN: former})
    assert left(replace(KNOWN, former=known), catalog=catalog) == ALL_OF_IT
    assert left(replace(landed_again(THE_TENTH), former=known), catalog=catalog) == frozenset()


def table_input(snapshot: int, rows: int = 2) -> PinnedInput:
    return PinnedInput(
        name="bronze.cases",
        type=InputType.TABLE,
        snapshot=str(snapshot),
        days=DayRange.of_day(THE_TENTH),
        window=InputWindow(before_days=0, after_days=0),
        files={},
        rows={THE_TENTH: rows},
        schema_digest="schema",
    )


def accepted(version: int, checksum: str = "c", rows: int = 2) -> AcceptedPartition:
    return AcceptedPartition(
        table="bronze.cases",
        day=THE_TENTH,
        run_id=OTHER_RUN,
        row_count=rows,
        checksum=checksum,
        target_version=version,
        publication_id=f"{version}",
        accepted_at=datetime(2026, 7, 4, tzinfo=UTC),
        superseded_at=None,
        superseded_by_run_id=None,
    )


def reads_alike(*history: AcceptedPartition, then: PinnedInput, now: PinnedInput, is_held=True):
    held = frozenset({THE_TENTH} if is_held else ())
    table = ReadTable(histories={THE_TENTH: history} if history else {}, held=held)
    return has_read_alike(DayRange.of_day(THE_TENTH), (then,), (now,), {"bronze.cases": table})


def test_a_table_is_told_by_what_was_accepted_of_it():
    then, now = table_input(3), table_input(9)
    assert reads_alike(accepted(2), then=then, now=now)
    assert reads_alike(accepted(2), accepted(5, "x"), accepted(7), then=then, now=now)
    assert not reads_alike(accepted(2), accepted(7, "x"), then=then, now=now)
    assert not reads_alike(accepted(5), then=then, now=now)


def test_an_input_that_nobody_is_known_to_have_written_proves_nothing():
    then, now = table_input(3), table_input(9)
    assert not reads_alike(then=then, now=now)
    assert not reads_alike(accepted(2), then=then, now=now, is_held=False)
    assert not reads_alike(accepted(2), then=table_input(3, rows=3), now=now)
    assert not reads_alike(accepted(2), accepted(12), then=then, now=now)


def test_a_day_that_held_nothing_then_and_holds_nothing_now_is_alike():
    assert reads_alike(then=table_input(3, rows=0), now=table_input(9, rows=0))


def test_facts_that_name_no_former_run_leave_nothing():
    assert left(FACTS) == frozenset()
