"""After SIGKILL at any step a walk leads where it leads undisturbed. All points: `make chaos`."""

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from backfill_platform_tests.scenarios.crash_matrix import Prepared, differences, prepare
from backfill_platform_tests.scenarios.crash_walks import (
    IN_MODES,
    PUBLICATION,
    ROLLBACK,
    WHOLE_ROAD,
    open_home,
)
from backfill_platform_tests.scenarios.crashing import WRITES, Crashes

# Before a step stands what stands after the one before it; only around the commit both are tried.
PUBLICATION_STEPS = (
    "acquire_fence 1",
    "move 1",
    "record_intent 1",
    "commit 1",
    "record_fact 1",
    "release_fence 1",
    "mark_chunk_published 1",
    "move 2",
    "move 3",
    "evidence 1",
)
ROLLBACK_STEPS = (
    "register_run 1",
    "manifest in evidence 1",
    "evidence 1",
    "manifest in evidence 2",
    "evidence 2",
    "acquire_fence 1",
    "move 1",
    "move 2",
    "move 3",
    "move 4",
    "move 5",
    "move 6",
    "record_intent 1",
    "commit 1",
    "release_fence 1",
    "record_fact 1",
    "move 7",
    "move 8",
    "evidence 3",
    "evidence 4",
)
# Where the ways of publishing differ: what the commit changes, and what is recorded of it.
AROUND_THE_COMMIT = ("after record_intent 1", "before commit 1", "after commit 1", "after move 2")
# Staged and not yet in the ledger; judged while the run does not say so yet.
WHOLE_ROAD_BOUNDARIES = ("after write chunk 1", "after record_verdicts 2")


def boundaries(steps: tuple[str, ...]) -> list[str]:
    return ["before commit 1", *(f"after {step}" for step in steps)]


def no_spark() -> NoReturn:
    raise AssertionError("this walk needs no Spark")


@pytest.fixture(scope="module")
def crashes() -> Iterator[Crashes]:
    with Crashes() as stem:
        yield stem


@pytest.fixture(scope="module")
def publication(tmp_path_factory: pytest.TempPathFactory, crashes: Crashes) -> Prepared:
    folder = tmp_path_factory.mktemp("publication")
    return prepare(PUBLICATION, folder, lambda home: crashes.survey(PUBLICATION.name, home))


@pytest.fixture(scope="module")
def rollback(tmp_path_factory: pytest.TempPathFactory, crashes: Crashes) -> Prepared:
    folder = tmp_path_factory.mktemp("rollback")
    return prepare(ROLLBACK, folder, lambda home: crashes.survey(ROLLBACK.name, home))


@pytest.fixture(scope="module")
def whole_road(tmp_path_factory: pytest.TempPathFactory, spark) -> Prepared:
    def walk_here(home: Path) -> list[str]:
        WHOLE_ROAD.take(open_home(home), lambda: spark)
        return []

    return prepare(WHOLE_ROAD, tmp_path_factory.mktemp("whole"), walk_here)


@pytest.mark.parametrize("boundary", boundaries(PUBLICATION_STEPS))
def test_a_publication_that_is_killed_leads_where_it_leads_undisturbed(
    publication: Prepared, crashes: Crashes, tmp_path: Path, boundary: str
) -> None:
    assert differences(publication, boundary, tmp_path, crashes, no_spark) == []


@pytest.mark.parametrize("boundary", boundaries(ROLLBACK_STEPS))
def test_a_rollback_that_is_killed_leads_where_it_leads_undisturbed(
    rollback: Prepared, crashes: Crashes, tmp_path: Path, boundary: str
) -> None:
    assert differences(rollback, boundary, tmp_path, crashes, no_spark) == []


@pytest.fixture(scope="module", params=IN_MODES, ids=lambda walk: walk.name.replace(" ", "-"))
def in_mode(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, crashes: Crashes
) -> Prepared:
    folder = tmp_path_factory.mktemp("in-mode")
    return prepare(request.param, folder, lambda home: crashes.survey(request.param.name, home))


@pytest.mark.parametrize("boundary", AROUND_THE_COMMIT)
def test_every_way_of_publishing_survives_a_kill_around_its_commit(
    in_mode: Prepared, crashes: Crashes, tmp_path: Path, boundary: str
) -> None:
    assert differences(in_mode, boundary, tmp_path, crashes, no_spark) == []


def test_every_way_of_publishing_changes_what_readers_see_and_leaves_nothing_half_done(
    in_mode: Prepared,
) -> None:
    assert in_mode.before != in_mode.undisturbed.rows
    assert (in_mode.undisturbed.half_done, in_mode.undisturbed.problems) == ([], [])


@pytest.mark.parametrize("boundary", WHOLE_ROAD_BOUNDARIES)
def test_a_run_that_is_killed_while_it_computes_leads_where_it_leads_undisturbed(
    whole_road: Prepared, crashes: Crashes, tmp_path: Path, spark, boundary: str
) -> None:
    assert differences(whole_road, boundary, tmp_path, crashes, lambda: spark) == []


def test_every_step_of_a_publication_is_in_the_matrix(publication: Prepared) -> None:
    around = [f"{when} {step}" for step in PUBLICATION_STEPS for when in ("before", "after")]
    assert publication.boundaries == around


def test_every_step_of_a_rollback_is_in_the_matrix(rollback: Prepared) -> None:
    around = [f"{when} {step}" for step in ROLLBACK_STEPS for when in ("before", "after")]
    assert rollback.boundaries == around


def test_an_undisturbed_walk_leaves_nothing_half_done(
    publication: Prepared, rollback: Prepared
) -> None:
    found = [
        (one.undisturbed.half_done, one.undisturbed.problems) for one in (publication, rollback)
    ]
    assert found == [([], []), ([], [])]


def test_every_write_of_the_ledger_is_a_step() -> None:
    assert {"record_intent", "record_fact", "give_up_intent", "move", "claim_chunk"} <= WRITES
    assert not {"open_intents", "run", "open_fences"} & WRITES
