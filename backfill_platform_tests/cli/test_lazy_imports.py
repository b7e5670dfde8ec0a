"""Verbs that only look at the ledger, or decide, wait for no engine to be imported."""

import subprocess
import sys

import pytest

from backfill_platform.engine.plan.planning import plan_run
from backfill_platform_tests.cli.conftest import SHIPPED
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.readings import BRONZE, week

HEAVY = ("pandera", "pyspark", "deltalake", "alembic", "dagster", "pandas", "pyarrow")

CALL = """
import sys
from backfill_platform.cli.main import app
try:
    app({arguments!r})
except SystemExit as end:
    code = end.code
print(code, *sorted(set({heavy!r}) & set(sys.modules)), file=sys.stderr)
"""


def call_alone(*arguments: str) -> str:
    """The exit code and what was imported of what is heavy."""
    program = CALL.format(arguments=arguments, heavy=HEAVY)
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    return answer.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("list",),
        ("show", "RUN"),
        ("status", "RUN"),
        ("review", "RUN"),
        ("watch", "RUN", "--once"),
        ("history", BRONZE),
        ("verify",),
        ("alerts",),
        ("alerts", "--test", "log"),
        ("metrics",),
        ("approve", "RUN", "--as", "team-lead", "--dry-run"),
        ("reject", "RUN", "--as", "team-lead", "--reason", "no", "--dry-run"),
        ("cancel", "RUN", "--reason", "no", "--confirm"),
        ("run", "RUN", "--dry-run"),
        ("--help",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_quick_verb_imports_no_engine(planned_by_policy, arguments):
    named = [planned_by_policy if one == "RUN" else one for one in arguments]
    assert call_alone(*named) == "0"


def test_a_look_at_a_table_imports_no_pandas(platform, intent):
    planned = plan_run(platform, intent(BRONZE, week(days=2), "seen"))
    run_by_hand(platform, planned, dict.fromkeys(week(days=2), ("a",)))
    assert call_alone("history", BRONZE, "--at", "2100-01-01") == "0 deltalake pyarrow"


def test_completing_a_run_imports_no_engine(planned_by_policy):
    program = (
        "import sys; from backfill_platform.cli.completing import complete_runs;"
        f"print(len(complete_runs('bf-')), *(set({HEAVY!r}) & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert answer.stdout == "1\n"


@pytest.fixture
def planned_by_policy(call, shipped_policy, platform) -> str:
    call("plan", BRONZE, "--days", "2025-01-01..2025-01-03", "--reason", "r", "--confirm")
    return platform.ledger.runs()[0].run_id


def test_the_shipped_policy_is_there():
    assert SHIPPED.is_file()
