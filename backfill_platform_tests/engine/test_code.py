"""What a transform's code is: its module, all it imports from its project, and what is bound."""

import functools
import importlib
import subprocess
import sys
from dataclasses import replace

import pytest

from backfill_platform.corrections.declare import corrections_of
from backfill_platform.enforcement.silver import CASE_SLA_DAILY
from backfill_platform.engine.plan.code import code_digest, code_files, code_folder

TRANSFORM = """
from users_tables.rule import FACTOR

def transform(frames, context):
    return FACTOR
"""

TELL = """
from backfill_platform.enforcement.silver import CASE_SLA_DAILY
from backfill_platform.engine.plan.code import code_digest

print(*(code_digest(one.function) for one in CASE_SLA_DAILY.transforms))
"""

TELL_CORRECTIONS = """
from backfill_platform.corrections.declare import corrections_of
from backfill_platform.enforcement.silver import CASE_SLA_DAILY
from backfill_platform.engine.plan.code import code_digest

print(*(code_digest(one.function) for one in corrections_of(CASE_SLA_DAILY).transforms))
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A small package of a user's own: a transform and a rule that it imports."""
    package = tmp_path / "users_tables"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "rule.py").write_text("FACTOR = 1\n")
    (package / "unrelated.py").write_text("NOTHING = 0\n")
    (package / "transform.py").write_text(TRANSFORM)
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.startswith("users_tables")]:
        del sys.modules[name]


@pytest.fixture
def transform(project):
    return importlib.import_module("users_tables.transform").transform


def test_a_change_in_what_is_imported_is_a_change_of_the_code(project, transform):
    before = code_digest(transform)
    (project / "rule.py").write_text("FACTOR = 2\n")
    assert code_digest(transform) != before


def test_a_change_elsewhere_in_the_project_is_none(project, transform):
    before = code_digest(transform)
    (project / "unrelated.py").write_text("NOTHING = 1\n")
    assert code_digest(transform) == before


def test_two_versions_of_one_function_differ_by_what_is_bound(transform):
    fixed, buggy = (functools.partial(transform, zone=zone) for zone in ("local", "utc"))
    assert len({code_digest(one) for one in (transform, fixed, buggy)}) == 3


def test_corrections_have_the_code_of_the_transform_whose_output_they_correct(project, transform):
    correcting = _corrections_by(transform)
    before = code_digest(correcting)
    (project / "rule.py").write_text("FACTOR = 2\n")
    assert code_digest(correcting) != before


def test_a_repository_is_asked_of_the_corrected_tables_code_and_not_of_the_platforms(
    project, transform
):
    correcting = _corrections_by(transform)
    assert code_folder(correcting) == project
    assert code_files(correcting) == code_files(transform)


def test_corrections_have_the_same_digest_in_every_process():
    told = subprocess.run(
        [sys.executable, "-c", TELL_CORRECTIONS], capture_output=True, text=True, check=True
    )
    corrections = corrections_of(CASE_SLA_DAILY)
    assert told.stdout.split() == [code_digest(one.function) for one in corrections.transforms]


def _corrections_by(transform):
    version = replace(CASE_SLA_DAILY.transforms[0], function=transform)
    return corrections_of(replace(CASE_SLA_DAILY, transforms=(version,))).transforms[0].function


def test_the_reference_domains_code_has_the_same_digest_in_every_process():
    told = subprocess.run([sys.executable, "-c", TELL], capture_output=True, text=True, check=True)
    assert told.stdout.split() == [code_digest(one.function) for one in CASE_SLA_DAILY.transforms]
