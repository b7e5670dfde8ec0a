"""What in a transform's source is refused when it is planned, and what is left in peace."""

import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backfill_platform.corrections.declare import corrections_of
from backfill_platform.domain.determinism import Cause
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.findings import Check
from backfill_platform.domain.transforms import TransformFunction
from backfill_platform.enforcement.catalog import TABLES
from backfill_platform.engine.plan.determinism import find_nondeterminism
from backfill_platform.engine.plan.planning import draft_manifest, plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform_tests.readings import BRONZE, week

HEAD = """
import os, random, time, uuid
import datetime as dt
from datetime import datetime, UTC
from random import choice
from pyspark.sql import functions as F
from moving_tables.rule import stamp, RULE

"""
RULE = """
import time

RULE = "amount > 1"
LATER = "ts < current_timestamp()"

def stamp():
    return time.time()

def harmless():
    return RULE
"""


@pytest.fixture
def transform(tmp_path: Path, monkeypatch) -> Iterator[Callable[[str], TransformFunction]]:
    """Makes a transform of a user's own project, with this body."""
    package = tmp_path / "moving_tables"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "rule.py").write_text(RULE)
    monkeypatch.syspath_prepend(tmp_path)

    def make(body: str, beside: str = "") -> TransformFunction:
        source = f"{HEAD}{beside}\ndef transform(frames, context):\n    {body}\n"
        (package / "transform.py").write_text(source)
        return importlib.import_module("moving_tables.transform").transform

    yield make
    for name in [name for name in sys.modules if name.startswith("moving_tables")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("body", "cause", "expression"),
    [
        ("return datetime.now(UTC)", Cause.CLOCK, "datetime.now(UTC)"),
        ("return dt.date.today()", Cause.CLOCK, "dt.date.today()"),
        ("return stamp()", Cause.CLOCK, "time.time()"),
        ("return choice([1, 2])", Cause.CHANCE, "choice([1, 2])"),
        ("return random.Random(7).random()", Cause.CHANCE, "random.Random(7)"),
        ("return uuid.uuid4()", Cause.CHANCE, "uuid.uuid4()"),
        ("return hash('a')", Cause.CHANCE, "hash('a')"),
        ("return os.environ['ZONE']", Cause.ENVIRONMENT, "os.environ"),
        ("return F.rand(seed=1)", Cause.CHANCE, "F.rand(seed=1)"),
        ("return F.unix_timestamp()", Cause.CLOCK, "F.unix_timestamp()"),
        ("return frames.inputs['a'].sample(0.1)", Cause.CHANCE, "frames.inputs['a'].sample(0.1)"),
        ("return F.expr('uuid()')", Cause.IDENTITY, "uuid()"),
        ("return f'ts < {1} AND d = current_date'", Cause.CLOCK, "current_date"),
        ("return F.expr(\"ts > timestamp 'now'\")", Cause.CLOCK, "timestamp 'now'"),
        ("return (lambda row: F.monotonically_increasing_id())", Cause.IDENTITY, "F.mono"),
    ],
)
def test_what_may_be_otherwise_next_time_is_found(transform, body, cause, expression) -> None:
    (found,) = find_nondeterminism(transform(body))
    assert found.cause is cause
    assert found.expression.startswith(expression)


def test_a_sighting_names_the_file_and_its_line(transform) -> None:
    (found,) = find_nondeterminism(transform("return stamp()"))
    assert found.where == "moving_tables/rule.py:8"


@pytest.mark.parametrize(
    "body",
    [
        "return RULE",
        "return uuid.uuid5(uuid.NAMESPACE_URL, 'key')",
        "return datetime(2025, 1, 1)",
        "return F.unix_timestamp('ts')",
        "random = frames; return random.inputs",
        "'''now() is not asked'''\n    return 1",
        "raise ValueError('do not use rand() here')",
        "return F.lit('now and then')",
    ],
)
def test_what_is_always_the_same_is_left_in_peace(transform, body) -> None:
    assert find_nondeterminism(transform(body)) == ()


def test_a_function_that_the_transform_does_not_reach_does_not_matter(transform) -> None:
    beside = "def report():\n    return datetime.now(UTC)\n"
    assert find_nondeterminism(transform("return RULE", beside)) == ()


def test_a_constant_that_holds_sql_is_reached_by_its_name(transform) -> None:
    beside = "LATEST = 'ts < now()'\nOTHER = 'rand() < 1'\n"
    (found,) = find_nondeterminism(transform("return frames.where(LATEST)", beside))
    assert (found.cause, found.expression) == (Cause.CLOCK, "now()")


@pytest.mark.parametrize("spec", [*TABLES, *map(corrections_of, TABLES)], ids=lambda s: s.full_name)
def test_every_transform_of_the_reference_domain_passes(spec) -> None:
    found = [find_nondeterminism(version.function) for version in spec.transforms]
    assert found == [()] * len(spec.transforms)


def by(platform: Platform, function: TransformFunction, ties: str = "") -> Platform:
    """The same tables, of which one is computed by this transform."""
    spec = platform.catalog.tables[BRONZE]
    version = replace(spec.transforms[0], function=function, ties=ties)
    tables = {**platform.catalog.tables, BRONZE: replace(spec, transforms=(version,))}
    return replace(platform, catalog=replace(platform.catalog, tables=tables))


def test_a_transform_that_reads_the_clock_is_refused_when_it_is_planned(
    platform: Platform, intent: Callable[..., Any], transform
) -> None:
    moving = by(platform, transform("return F.current_timestamp()"))
    with pytest.raises(PlanRefused, match=r"load-readings/1\.0\.0 .*transform\.py:11: `F\.current"):
        plan_run(moving, intent(BRONZE, week(), "clock"))
    assert platform.ledger.runs() == ()


def test_a_plan_says_why_an_open_order_is_harmless(
    platform: Platform, intent: Callable[..., Any], transform
) -> None:
    declared = by(platform, transform("return RULE"), ties="rows of one window are identical")
    manifest = draft_manifest(declared, intent(BRONZE, week(), "ties"))
    said = {finding.check: finding.message for finding in manifest.findings}
    assert "rows of one window are identical" in said[Check.DETERMINISTIC]
