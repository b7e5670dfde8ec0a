"""What holds of every plan: one digest in any order, exact chunks, covering inputs, true impact."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.approvals import Requirement
from backfill_platform.domain.catalog import Catalog, Declarations, build_catalog
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.estimates import CostRate, PastChunk
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.limits import Limits
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import Boundary, DayRange, PartitionSet
from backfill_platform.domain.tables import Input, ReferenceUse, TableSpec
from backfill_platform.planner.facts import Facts, InputFacts, Terms
from backfill_platform.planner.impact import downstream_impact
from backfill_platform.planner.plan import build_manifest
from backfill_platform.planner.scope import input_days
from backfill_platform_tests.declarations import SCHEMA, SOURCE, make_table
from backfill_platform_tests.planner.worlds import (
    CALENDAR,
    FACTS,
    HELD,
    INTENT,
    REQUIREMENT,
    RUN,
    TERMS,
    held_input,
)

NAMES = ("landing.calls", "landing.events", "landing.mails")
SOURCES = tuple(replace(SOURCE, name=name, path=name) for name in NAMES)
TODAY = FACTS.now.date()

boundaries = st.sampled_from(Boundary)
held_days = st.dates(HELD.start, HELD.last)
day_sets = st.sets(held_days, min_size=1, max_size=30)
windows = st.integers(0, 40)
input_sets = st.sets(st.sampled_from(NAMES), min_size=1).flatmap(
    lambda names: st.tuples(
        *(
            st.builds(Input, name=st.just(name), warm_up_days=windows, late_days=windows)
            for name in sorted(names)
        )
    )
)
small_limits = st.builds(
    Limits,
    max_partitions_at_once=st.none() | st.integers(1, 40),
    max_rows_per_minute=st.none() | st.integers(1, 5_000),
    max_bytes_per_minute=st.none() | st.integers(1, 90_000),
    pause_seconds=st.integers(0, 9),
)
past_chunks = st.lists(
    st.builds(
        PastChunk,
        rows_read=st.none() | st.integers(0, 10**9),
        rows_out=st.integers(0, 10**9),
        seconds=st.floats(0, 10**5),
        partitions=st.integers(1, 400),
    ),
    max_size=60,
).map(tuple)


# Whole weeks and whole months at once: it begins with a Monday and ends with a Sunday.
CALM = DayRange(date(2025, 9, 1), date(2025, 12, 1))


def whole(days: set[date], boundary: Boundary) -> PartitionSet:
    """These days and all others of their weeks or months."""
    return PartitionSet.of_days(
        day for one in days for day in DayRange.of_day(one).widen_to(boundary)
    )


@dataclass(frozen=True)
class World:
    intent: Intent
    spec: TableSpec
    facts: Facts
    terms: Terms = TERMS

    @property
    def catalog(self) -> Catalog:
        return build_catalog(
            Declarations(sources=SOURCES, references=(CALENDAR,), tables=(self.spec,)),
            read_contract=lambda _model: SCHEMA,
        )

    def plan(self) -> Manifest:
        return build_manifest(self.intent, self.catalog, self.facts, self.terms, RUN)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    boundary = draw(boundaries)
    inputs = draw(input_sets)
    start = boundary.next_start(HELD.start)
    days = whole(draw(st.sets(st.dates(CALM.start, CALM.last), min_size=1, max_size=9)), boundary)
    held = PartitionSet.of_range(HELD)
    sizes = st.integers(0, 10**6)
    return World(
        intent=replace(INTENT, days=days, limits=draw(small_limits)),
        spec=make_table(
            inputs=inputs,
            boundary=boundary,
            start=start,
            chunk_days=draw(st.integers(31, 92)),
            references=(ReferenceUse(name="calendar", version="restated"),),
        ),
        facts=replace(
            FACTS,
            inputs={
                one.name: held_input(held, rows=draw(sizes), size=draw(sizes)) for one in inputs
            },
            past_chunks=draw(past_chunks),
            free_bytes=10**30,
        ),
    )


def reversed_mapping(given: Mapping[Any, Any]) -> dict[Any, Any]:
    return dict(reversed(list(given.items())))


def reversed_input(known: InputFacts) -> InputFacts:
    return replace(
        known,
        files=reversed_mapping(known.files),
        rows=reversed_mapping(known.rows),
        bytes=reversed_mapping(known.bytes),
    )


def turned_around(world: World) -> World:
    """The same world, told in another order."""
    inputs = {name: reversed_input(known) for name, known in world.facts.inputs.items()}
    days = reversed(list(world.intent.days))
    return World(
        intent=replace(world.intent, days=PartitionSet.of_days(days)),
        spec=replace(
            world.spec,
            inputs=tuple(reversed(world.spec.inputs)),
            transforms=tuple(reversed(world.spec.transforms)),
        ),
        facts=replace(
            world.facts,
            inputs=reversed_mapping(inputs),
            reference_digests=reversed_mapping(world.facts.reference_digests),
        ),
    )


@given(worlds())
def test_the_same_digest_in_any_order(world: World):
    assert world.plan().digest == world.plan().digest == turned_around(world).plan().digest


@given(worlds())
def test_chunks_cover_the_range_exactly_and_cut_no_unit(world: World):
    manifest = world.plan()
    chunks = manifest.target.partitions.split(manifest.chunk_days, world.spec.boundary)
    assert [day for chunk in chunks for day in chunk] == list(world.intent.days)
    assert [chunk for chunk in chunks if chunk.widen_to(world.spec.boundary) != chunk] == []


@given(worlds())
def test_a_chunk_is_as_small_as_its_limits_ask_or_a_single_unit(world: World):
    manifest = world.plan()
    chunks = manifest.target.partitions.split(manifest.chunk_days, world.spec.boundary)
    assert [chunk for chunk in chunks if not is_unit(chunk, world) and exceeds(chunk, world)] == []


def is_unit(chunk: DayRange, world: World) -> bool:
    return chunk == DayRange.of_day(chunk.start).widen_to(world.spec.boundary)


def exceeds(chunk: DayRange, world: World) -> bool:
    limits, inputs = world.intent.limits, world.facts.inputs.values()
    rows = sum(known.rows[day] for known in inputs for day in chunk)
    size = sum(known.bytes[day] for known in inputs for day in chunk)
    return (
        len(chunk) > (limits.max_partitions_at_once or len(chunk))
        or rows > (limits.max_rows_per_minute or rows)
        or size > (limits.max_bytes_per_minute or size)
    )


@given(worlds())
def test_the_input_range_covers_what_every_day_may_use(world: World):
    for_days = world.intent.days
    assert [
        pinned.name
        for pinned in world.plan().inputs
        if not pinned.days.covers(for_days.span)
        or pinned.days != input_days(for_days, pinned.window).clip(HELD)
    ] == []


@given(worlds())
def test_rows_read_are_those_of_the_pinned_days_that_some_output_uses(world: World):
    manifest = world.plan()
    expected = sum(
        pinned.rows.get(day, 0) for pinned in manifest.inputs for day in used_days(pinned, world)
    )
    assert manifest.estimate.rows_read == expected


def used_days(pinned: Any, world: World) -> set[date]:
    before, after = pinned.window.before_days, pinned.window.after_days
    return {
        day + timedelta(days=offset)
        for day in world.intent.days
        for offset in range(-before, after + 1)
    }


@given(worlds())
def test_an_estimate_is_ordered_and_nowhere_negative(world: World):
    found = world.plan().estimate
    spans = (found.rows_out, found.bytes_out, found.seconds, found.cost_usd)
    assert [span for span in spans if not 0 <= span.low <= span.expected <= span.high] == []


def ask_somebody_else(_change: Any) -> Requirement:
    return replace(REQUIREMENT, roles=("director",))


OTHER_FACTS: dict[str, dict[str, Any]] = {
    "now": {"now": FACTS.now + timedelta(seconds=1)},
    "snapshot": {
        "inputs": {"landing.events": replace(FACTS.inputs["landing.events"], snapshot="s2")}
    },
    "rows": {"inputs": {"landing.events": held_input(PartitionSet.of_range(HELD), rows=101)}},
    "bytes": {"inputs": {"landing.events": held_input(PartitionSet.of_range(HELD), size=1_001)}},
    "reference": {"reference_digests": {"calendar": {"restated": "edited"}}},
    "target version": {"target": replace(FACTS.target, version=8)},
    "target files": {"target": replace(FACTS.target, fingerprints={date(2025, 3, 2): "other"})},
    "target rows": {"target": replace(FACTS.target, rows={date(2025, 3, 2): 9})},
    "rollback": {"target": replace(FACTS.target, rollback_hours=24)},
    "code": {"code": replace(FACTS.code, digest="other")},
    "config": {"code": replace(FACTS.code, config_hash="other")},
    "commit": {"code": replace(FACTS.code, git_commit="other")},
    "image": {"code": replace(FACTS.code, container_image="other")},
    "lock": {"code": replace(FACTS.code, lock_digest="other")},
    "past": {"past_chunks": (PastChunk(rows_read=1, rows_out=1, seconds=1.0, partitions=1),)},
    "scope": {"replaced_scope_version": 1},
}


def plain_world(facts: Facts = FACTS, terms: Terms = TERMS) -> World:
    spec = make_table(
        inputs=(Input(name="landing.events", warm_up_days=28, late_days=10),),
        references=(ReferenceUse(name="calendar", version="restated"),),
    )
    return World(intent=INTENT, spec=spec, facts=facts, terms=terms)


@pytest.mark.parametrize("change", OTHER_FACTS.values(), ids=OTHER_FACTS.keys())
def test_another_fact_gives_another_digest(change: dict[str, Any]):
    assert plain_world(replace(FACTS, **change)).plan().digest != plain_world().plan().digest


@pytest.mark.parametrize(
    "change",
    [
        {"rates": {"default": CostRate(low=Decimal(7), high=Decimal(9))}},
        {"limits": Limits(max_rows=10**9)},
        {"plan_valid_hours": 1},
        {"require_approvals": ask_somebody_else},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_term_gives_another_digest(change: dict[str, Any]):
    other = plain_world(terms=replace(TERMS, **change))
    assert other.plan().digest != plain_world().plan().digest


def test_a_fact_that_does_not_touch_the_run_leaves_the_digest_alone():
    elsewhere = {**FACTS.target.fingerprints, date(2025, 5, 1): "moved"}
    facts = replace(FACTS, target=replace(FACTS.target, fingerprints=elsewhere))
    assert plain_world(facts).plan().digest == plain_world().plan().digest


@given(st.sets(held_days, min_size=1, max_size=20), st.sets(held_days, max_size=20))
def test_a_day_that_an_input_lacks_is_never_planned(wanted: set[date], lacking: set[date]):
    held = PartitionSet.of_days(sorted(set(HELD) - lacking))
    world = replace(
        plain_world(replace(FACTS, inputs={"landing.events": held_input(held)})),
        intent=replace(INTENT, days=PartitionSet.of_days(wanted)),
    )
    assert is_refused(world) == bool(wanted & lacking)


def is_refused(world: World) -> bool:
    try:
        world.plan()
    except PlanRefused:
        return True
    return False


@st.composite
def chains(draw: st.DrawFn) -> Catalog:
    """Up to five tables, each reading some of those before it."""
    tables = [make_table("bronze", "t0")]
    for number in range(1, draw(st.integers(2, 5))):
        names = [table.full_name for table in tables]
        read = draw(st.sets(st.sampled_from(names), min_size=1))
        boundary = draw(boundaries)
        inputs = tuple(
            Input(name=name, warm_up_days=draw(windows), late_days=draw(windows))
            for name in sorted(read)
        )
        start = boundary.next_start(draw(st.dates(date(2024, 12, 1), date(2025, 12, 1))))
        tables.append(
            make_table("silver", f"t{number}", inputs=inputs, boundary=boundary, start=start)
        )
    return build_catalog(
        Declarations(sources=(SOURCE,), references=(), tables=tuple(tables)),
        read_contract=lambda _model: SCHEMA,
    )


@given(chains(), day_sets, st.dates(date(2025, 1, 1), date(2026, 3, 1)))
def test_impact_is_exactly_the_days_whose_inputs_change(
    catalog: Catalog, changed: set[date], today: date
):
    found = downstream_impact(catalog, "bronze.t0", PartitionSet.of_days(changed), today)
    assert {one.table: set(one.days) for one in found} == affected_by_asking_every_day(
        catalog, changed, today
    )
    assert [one.table for one in found] == [
        name for name in catalog.tables if name in {one.table for one in found}
    ]


def affected_by_asking_every_day(
    catalog: Catalog, changed: set[date], today: date
) -> dict[str, set[date]]:
    """The oracle: every day of every table is asked what it reads."""
    known = {"bronze.t0": changed}
    for name, spec in catalog.tables.items():
        everyday = DayRange.closed(spec.start, today) if spec.start <= today else ()
        hit = {day for day in everyday if reads_a_changed_day(spec, day, known)}
        units = {spec.boundary.start_of(day) for day in hit}
        whole_units = {
            day for start in units for day in DayRange.of_day(start).widen_to(spec.boundary)
        }
        known |= {name: whole_units} if whole_units else {}
    return {name: days for name, days in known.items() if name != "bronze.t0"}


def reads_a_changed_day(spec: TableSpec, day: date, changed: Mapping[str, set[date]]) -> bool:
    return any(
        day + timedelta(days=offset) in changed.get(used.name, ())
        for used in spec.inputs
        for offset in range(-used.warm_up_days, used.late_days + 1)
    )
