"""Whatever the order in which processes write: no row is lost, none doubled, all explained."""

from pathlib import Path

from backfill_platform_tests.properties import race, rivals


def test_a_race_of_publishers_loses_no_row_and_doubles_none(tmp_path: Path) -> None:
    rounds = 1
    result = rivals.race(tmp_path, rounds=rounds)
    assert result.published + result.refused == 2 * rivals.PROCESSES * rounds
    # Of two rivals for one day at most one may land; appends may have refused both.
    assert 0 < result.published <= rivals.PROCESSES * rounds


def test_a_race_of_everybody_is_explained_by_log_and_ledger_and_unrelated_partitions_never_conflict(
    tmp_path: Path,
) -> None:
    rounds = 2
    told = race.race(tmp_path, rounds=rounds)
    assert told["publish own", "DONE"] == race.PROCESSES * rounds
    # How many of the others land is chance; that each was answered and explained is not.
    assert sum(told.values()) == race.ACTS * race.PROCESSES * rounds
