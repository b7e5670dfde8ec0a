"""Pure rooms load where no engine is installed, so they are tested and reused without one.

Import rules alone do not show it: a package's `__init__` that re-exports an impure module keeps the
linter green and drags the engine in all the same.
"""

import pkgutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

import backfill_platform.domain
import backfill_platform.governance
import backfill_platform.planner
import backfill_platform.validator.gates

ENGINES = ("dagster", "pyspark", "deltalake", "sqlalchemy")
PURE_PACKAGES = (
    backfill_platform.domain,
    backfill_platform.governance,
    backfill_platform.planner,
    backfill_platform.validator.gates,
)
PURE_MODULES = (
    "backfill_platform.corrections.contract",
    "backfill_platform.corrections.events",
    "backfill_platform.evidence.chain",
)

BLOCK_AND_IMPORT = """
import importlib, sys
sys.modules.update(dict.fromkeys({engines!r}))
importlib.import_module({module!r})
"""


def pure_modules() -> Iterator[str]:
    yield from PURE_MODULES
    for package in PURE_PACKAGES:
        yield package.__name__
        for module in pkgutil.iter_modules(package.__path__):
            yield f"{package.__name__}.{module.name}"


@pytest.mark.parametrize("module", sorted(pure_modules()))
def test_a_pure_module_loads_without_any_engine(module: str) -> None:
    program = BLOCK_AND_IMPORT.format(engines=ENGINES, module=module)

    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_the_block_works(engine: str) -> None:
    program = BLOCK_AND_IMPORT.format(engines=ENGINES, module=engine)

    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert "ModuleNotFoundError" in answer.stderr
