"""Whatever the order in which processes publish and append: no row is lost and none is doubled."""

from pathlib import Path

from backfill_platform_tests.properties.race import PROCESSES, race


def test_a_race_loses_no_row_and_doubles_none(tmp_path: Path) -> None:
    rounds = 2
    result = race(tmp_path, rounds=rounds)
    assert result.published + result.refused == 2 * PROCESSES * rounds
    # Of two rivals for one day at most one may land; appends may have refused both.
    assert 0 < result.published <= PROCESSES * rounds
