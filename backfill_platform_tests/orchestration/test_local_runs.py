"""What becomes of a Dagster run that fails: whoever called is told whether to try again."""

from collections.abc import Callable

import dagster as dg
import pytest

from backfill_platform.cli.main import EXIT_REFUSED, EXIT_TRY_AGAIN, exit_code
from backfill_platform.domain.errors import (
    BackfillError,
    EngineUnavailable,
    GateFailed,
    LaunchFailed,
    LaunchInterrupted,
    LostRace,
)
from backfill_platform.domain.partitions import DayRange
from backfill_platform.orchestration.failures import told_to_dagster
from backfill_platform.orchestration.keys import table_key
from backfill_platform.orchestration.local_runs import LocalDagster
from backfill_platform.orchestration.partitions import daily_partitions
from backfill_platform_tests.readings import BRONZE, START

Launch = Callable[[], str]


@pytest.fixture
def failing(platform) -> Callable[[Exception], Launch]:
    """A publication whose step ends with the error; Dagster itself tries nothing again."""

    def make(error: Exception) -> Launch:
        spec = platform.catalog.tables[BRONZE]

        @dg.asset(key=table_key(BRONZE), partitions_def=daily_partitions(spec))
        def publish() -> None:
            try:
                with told_to_dagster():
                    raise error
            except dg.RetryRequested as again:
                raise dg.RetryRequested(max_retries=0) from again.__cause__

        def launch() -> str:
            with dg.DagsterInstance.ephemeral() as instance:
                dagster = LocalDagster(
                    platform=platform,
                    definitions=dg.Definitions(assets=[publish]),
                    instance=instance,
                    start_spark=pytest.fail,
                )
                return dagster.publish(spec, DayRange.of_day(START), {})

        return launch

    return make


@pytest.mark.parametrize("passing", [LostRace("first"), EngineUnavailable("locked")])
def test_what_passes_may_be_tried_again(failing, passing: BackfillError) -> None:
    with pytest.raises(LaunchInterrupted, match=rf"^{passing}$") as told:
        failing(passing)()
    assert exit_code(told.value) == EXIT_TRY_AGAIN


@pytest.mark.parametrize("lasting", [GateFailed("no verdict"), RuntimeError("no verdict")])
def test_what_does_not_pass_is_a_refusal(failing, lasting: Exception) -> None:
    with pytest.raises(LaunchFailed, match="no verdict") as told:
        failing(lasting)()
    assert exit_code(told.value) == EXIT_REFUSED
