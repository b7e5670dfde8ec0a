"""An invariant is stated once, where it is enforced, and names a test that guards it."""

import re
from pathlib import Path

import pytest

import backfill_platform
import backfill_platform_tests

SOURCES = Path(backfill_platform.__file__).parent
TESTS = Path(backfill_platform_tests.__file__).parent
STATEMENT = re.compile(r"Invariant: (?P<what>.*?)\((?P<test>test_\w+)\)", re.DOTALL)


def stated() -> list[tuple[str, str]]:
    texts = ((path, path.read_text()) for path in sorted(SOURCES.rglob("*.py")))
    return [
        (path.relative_to(SOURCES).as_posix(), match["test"])
        for path, text in texts
        for match in STATEMENT.finditer(text)
    ]


@pytest.mark.parametrize(("where", "test"), stated())
def test_the_test_that_an_invariant_names_exists(where, test):
    found = [path for path in TESTS.rglob("test_*.py") if f"def {test}(" in path.read_text()]
    assert found, f"{where} names {test}, which is nowhere"


def test_every_statement_of_an_invariant_names_a_test():
    said = sum(path.read_text().count("Invariant:") for path in SOURCES.rglob("*.py"))
    assert (said, said > 0) == (len(stated()), True)
