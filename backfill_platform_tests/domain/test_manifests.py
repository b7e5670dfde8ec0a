"""A manifest is its content: equal ones share a digest, and any other field makes another one."""

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given

from backfill_platform.domain.approvals import ConsentPoint, Requirement
from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.errors import EvidenceBroken
from backfill_platform.domain.estimates import Cost, Estimate, Span
from backfill_platform.domain.findings import Check, Finding, Severity
from backfill_platform.domain.identity import GroupId, RunId
from backfill_platform.domain.impacts import Impact
from backfill_platform.domain.limits import DailyWindow, Limits
from backfill_platform.domain.manifests import (
    MANIFEST_FORMAT,
    InputType,
    Manifest,
    PinnedInput,
    PinnedReference,
    PinnedTarget,
    PinnedTransform,
    ReplacedManifest,
    Safety,
    UnchangedDays,
    Validation,
    manifest_digest,
    manifest_from_json,
    manifest_json,
)
from backfill_platform.domain.modes import (
    ExecutionMode,
    Knowledge,
    LiveConflicts,
    PublishMode,
    PublishScope,
    ReferenceSemantics,
    RunKind,
    VersionColumn,
)
from backfill_platform.domain.partitions import Boundary, DayRange, PartitionSet
from backfill_platform.domain.privacy import PinnedDeletions
from backfill_platform.domain.quality import ChangeBound, ExpectedChange, Tolerance
from backfill_platform.domain.schema_changes import SchemaChange, SchemaChangeKind
from backfill_platform.domain.transforms import InputWindow
from backfill_platform.domain.verdicts import GateSeverity
from backfill_platform_tests.planner.generated import values_of

DAY = date(2025, 3, 1)
MARCH = DayRange(DAY, date(2025, 4, 1))

ONE = Manifest(
    run_id=RunId("bf-20260704-cases-3.1.0-001"),
    group_id=GroupId("group"),
    scope_version=1,
    replaces=ReplacedManifest(run_id=RunId("bf-20260704-cases-3.1.0-000"), manifest_digest="old"),
    undoes=ReplacedManifest(run_id=RunId("bf-20260703-cases-3.1.0-009"), manifest_digest="bad"),
    kind=RunKind.RESTATEMENT,
    mode=ExecutionMode.BACKFILL,
    knowledge=Knowledge.UP_TO_SNAPSHOT,
    reason="time zone bug",
    ticket="T-7",
    requested_by="data-platform",
    planned_at=datetime(2026, 7, 4, tzinfo=UTC),
    valid_until=datetime(2026, 7, 6, tzinfo=UTC),
    is_full=False,
    inputs=(
        PinnedInput(
            name="bronze.events",
            type=InputType.TABLE,
            snapshot="41",
            days=MARCH,
            window=InputWindow(before_days=3, after_days=2),
            files={DAY: "d"},
            rows={DAY: 7},
            schema_digest="schema",
        ),
    ),
    references=(
        PinnedReference(
            name="calendar",
            version="restated",
            semantics=ReferenceSemantics.CURRENT,
            digest="calendar",
        ),
    ),
    deletions=PinnedDeletions(name="forgotten", digest="d", subjects=2),
    transform=PinnedTransform(
        name="cases",
        version="3.1.0",
        code_digest="code",
        config_hash="config",
        git_commit="8d91ab7",
        container_image="cases:3.1.0",
        lock_digest="lock",
    ),
    target=PinnedTarget(
        table="silver.cases",
        publish_mode=PublishMode.VERSIONED,
        publish_scope=PublishScope.WHOLE_RUN,
        live_conflicts=LiveConflicts.MERGE_BY_VERSION,
        version_column=VersionColumn.OUTPUT_VERSION,
        output_version="2",
        topic="corrections",
        schema_changes=(
            SchemaChange(
                kind=SchemaChangeKind.WIDENED, column="amount", before="integer", after="long"
            ),
        ),
        partitions=PartitionSet.of_range(MARCH),
        boundary=Boundary.DAY,
        base_version=7,
        base={DAY: "f"},
        schema_digest="schema",
    ),
    chunk_days=31,
    safety=Safety(
        side_effects_allowed=False,
        requires_manual_publish=False,
        limits=Limits(
            max_partitions_at_once=1,
            max_rows_per_minute=2,
            max_bytes_per_minute=3,
            max_commits_per_hour=4,
            pause_seconds=5,
            off_peak=DailyWindow(start="22:00", end="06:00"),
            max_rows=6,
            max_cost_usd=Decimal(7),
        ),
    ),
    validation=Validation(
        gates=("reconciled",),
        count_tolerance=0,
        checksum_required=True,
        quality_digest="promises",
        severities={"reconciled": GateSeverity.BLOCK},
        tolerances={"cases": Tolerance(absolute=Decimal(2), percent=Decimal("0.5"))},
        changes=(
            ChangeBound(
                measure="cases",
                fall_percent=Decimal(15),
                rise_percent=Decimal(30),
                per=Boundary.MONTH,
                at_least=Decimal(5),
            ),
        ),
        expected_changes=(
            ExpectedChange(measure="cases", least_percent=Decimal(-90), most_percent=Decimal(-60)),
        ),
        overridden=("cases may fall by 60 to 90 %",),
    ),
    approval=Requirement(
        rule="all",
        roles=("lead",),
        before=ConsentPoint.STAGING,
        signed=False,
        valid_hours=72,
        notify=("reports",),
    ),
    estimate=Estimate(
        rows_read=1,
        bytes_read=2,
        rows_out=Span(low=1, expected=2, high=3),
        bytes_out=Span(low=1, expected=2, high=3),
        seconds=Span(low=1, expected=2, high=3),
        cost_usd=Cost(low=Decimal(1), expected=Decimal(2), high=Decimal(3)),
        basis=("earlier chunks",),
    ),
    impacts=(
        Impact(
            table="gold.totals",
            days=PartitionSet.of_range(MARCH),
            owner="reporting",
            through="silver.cases",
        ),
    ),
    findings=(Finding(check=Check.CAPACITY, severity=Severity.PASS, message="room"),),
    unchanged=(
        UnchangedDays(
            run_id=RunId("bf-20260703-cases-3.1.0-001"),
            manifest_digest="earlier",
            compared={DAY: "compared"},
        ),
    ),
)

Path = tuple[str | int, ...]

OTHER_WORDS: dict[str, str] = {
    "DAY": "WEEK",
    "MONTH": "WEEK",
    "BLOCK": "HOLD",
    "BY_TIME_PARTITION": "BY_COMPLETE_WINDOW",
    "VERSIONED": "APPEND_ONLY",
    "WHOLE_RUN": "DARK",
    "MERGE_BY_VERSION": "FREEZE",
    "output_version": "as_of_date",
    "WIDENED": "NARROWED",
    "BACKFILL": "REPLAY",
    "RESTATEMENT": "REPAIR",
    "UP_TO_SNAPSHOT": "AS_KNOWN_THEN",
    "DELTA_TABLE": "FILES",
    "CURRENT": "CORRECTED_TRUTH",
    "STAGING": "PUBLICATION",
    "capacity": "stream_state",
    "PASS": "WARN",
}


def leaves(document: Any, path: Path = ()) -> Iterator[Path]:
    """The place of every single value in a document."""
    places = document.items() if isinstance(document, dict) else enumerate(document)
    for name, value in places:
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, name))
        else:
            yield (*path, name)


def another(value: Any) -> Any:
    """Another value that may stand in the same place; the sample leaves no place empty."""
    assert value is not None, "give the new field a value in ONE"
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str() if value in OTHER_WORDS:
            return OTHER_WORDS[value]
        case str() if value.startswith("20"):  # a day or an instant
            return (
                value.replace("2025-03", "2025-02")
                .replace("2025-04", "2025-05")
                .replace("2026", "2027")
            )
        case "22:00" | "06:00":
            return "12:00"
        case _:
            return f"{value}1"


def changed(document: Any, path: Path) -> Any:
    copied = json.loads(json.dumps(document))
    place = copied
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = another(place[path[-1]])
    return copied


PLAIN = json.loads(manifest_json(ONE))
FIELDS = [path for path in leaves(PLAIN) if path != ("format",)]


@pytest.mark.parametrize("path", FIELDS, ids=lambda path: ".".join(str(part) for part in path))
def test_manifest_digest_changes_with_every_field(path: Path):
    other = manifest_from_json(json.dumps(changed(PLAIN, path)))
    assert other != ONE
    assert other.digest != ONE.digest


def test_every_field_of_a_manifest_stands_in_the_text_that_is_digested():
    assert PLAIN.keys() == {field.name for field in dataclasses.fields(Manifest)}


@given(values_of(Manifest))
def test_a_manifest_comes_back_from_its_text_as_it_was(generated: Manifest):
    manifest = replace(generated, format=MANIFEST_FORMAT)
    again = manifest_from_json(manifest_json(manifest))
    assert (again, again.digest) == (manifest, manifest.digest)


def test_the_digest_is_that_of_the_text():
    assert ONE.digest == manifest_digest(manifest_json(ONE))


ADDED_IN_4 = (
    *("quality_digest", "severities", "tolerances", "changes", "expected_changes"),
    *("overridden", "watermark"),
)


def of_format_4() -> dict[str, Any]:
    former: dict[str, Any] = json.loads(json.dumps(PLAIN))
    former["format"] = 4
    del former["unchanged"], former["computes_all"]
    return former


def of_format_3() -> dict[str, Any]:
    former = of_format_4()
    former["format"] = 3
    for name in ADDED_IN_4:
        del former["validation"][name]
    return former


def of_format_2() -> dict[str, Any]:
    former = of_format_3()
    former["format"] = 2
    del former["deletions"]
    for name in ("publish_scope", "live_conflicts", "version_column", "output_version"):
        del former["target"][name]
    del former["target"]["schema_changes"], former["target"]["topic"]
    return former


@pytest.mark.parametrize(
    "former", [of_format_2(), of_format_3(), of_format_4()], ids=["2", "3", "4"]
)
def test_a_run_of_a_former_format_keeps_its_text_and_its_digest(former):
    text = canonical_json(former)
    read = manifest_from_json(text)
    assert (manifest_json(read), read.digest) == (text, manifest_digest(text))


def test_what_a_former_format_did_not_say_means_the_usual():
    read = manifest_from_json(canonical_json(of_format_2()))
    assert (read.target.publish_scope, read.deletions) == (PublishScope.PROGRESSIVE, None)
    assert (read.validation.overridden, read.validation.changes) == ((), ())
    assert (read.unchanged, read.computes_all) == ((), False)


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        "[]",
        "{}",
        json.dumps(PLAIN | {"format": 1}),
        json.dumps(PLAIN | {"format": 2}),
        json.dumps(PLAIN | {"format": 3}),
        json.dumps(PLAIN | {"format": 4}),
        json.dumps(PLAIN | {"format": 6}),
        json.dumps(PLAIN | {"surprise": 1}),
        json.dumps(PLAIN | {"chunk_days": "31"}),
        json.dumps(PLAIN | {"estimate": None}),
        json.dumps(PLAIN | {"target": []}),
    ],
)
def test_what_is_no_manifest_of_this_format_is_refused(text):
    with pytest.raises(EvidenceBroken, match="This is no manifest of format 2 to 5"):
        manifest_from_json(text)


def test_the_snapshot_line_names_every_input():
    two = (ONE.inputs[0], replace(ONE.inputs[0], name="bronze.parties", snapshot="f" * 64))
    line = replace(ONE, inputs=two).input_snapshot
    assert line == f"bronze.events@41,bronze.parties@{'f' * 16}"


def test_a_manifest_without_reference_data_names_none():
    assert (ONE.reference_data_version, replace(ONE, references=()).reference_data_version) == (
        "calendar/restated",
        None,
    )


def test_what_is_computed_of_a_chunk_is_all_that_is_not_left():
    second = DayRange.of_day(date(2025, 3, 2))
    assert ONE.computed_parts(DayRange(DAY, date(2025, 3, 3))) == (second,)
    assert ONE.computed_parts(DayRange.of_day(DAY)) == ()
