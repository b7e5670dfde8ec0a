"""What may go from a table's folder, why, and what stays until when."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.retirements import FoundFile, Retention, RetirementReason, TableLog
from backfill_platform.planner.retirement import RetirementPlan, plan_retirement
from backfill_platform.planner.retirement_facts import RetirementFacts, RunFacts, RunFolder

NOW = datetime(2026, 7, 4, 9, tzinfo=UTC)
TABLE = "silver.cases"
RUN, OTHER = RunId("bf-20260704-cases-1.0.0-001"), RunId("bf-20260704-cases-1.0.0-002")
DAY = date(2025, 1, 5)
DATA = f"runs/{RUN}/day={DAY}/part-0.parquet"
LOG_ENTRY = f"runs/{RUN}/_delta_log/00000000000000000000.json"
S = RunState


def ago(**passed: float) -> datetime:
    return NOW - timedelta(**passed)


def run(state: RunState, ended_at: datetime, **said: Any) -> RunFacts:
    given_facts = {"is_candidate": False, "rests_when_judged": False, "busy_until": None}
    return RunFacts(run_id=RUN, state=state, ended_at=ended_at, **(given_facts | said))


def folder(of: RunFacts | None, *, data: tuple[str, ...] = (DATA,), strange: int = 0) -> RunFolder:
    return RunFolder(
        name=RUN,
        run=of,
        data=tuple(FoundFile(path=path, size_bytes=10) for path in data),
        rest=(FoundFile(path=LOG_ENTRY, size_bytes=1),),
        strange=strange,
    )


def log(**said: Any) -> TableLog:
    known: dict[str, Any] = {
        "version": 9,
        "active": frozenset[str](),
        "removed_at": {},
        "is_whole": True,
        "rollback_window": timedelta(days=30),
    }
    return TableLog(**(known | said))


def facts(of: RunFacts | None = None, **said: Any) -> RetirementFacts:
    known = {
        "now": NOW,
        "table": TABLE,
        "retention": Retention(abandoned_after_days=7, superseded_after_days=30),
        "partition_column": "day",
        "log": log(),
        "recorded_version": 9,
        "folders": (folder(of),),
        "elsewhere": (),
        "needed": {},
        "shown_until": {},
        "publishing": (),
    }
    return RetirementFacts(**(known | said))


def gone(plan: RetirementPlan) -> dict[RetirementReason, set[str]]:
    return {part.reason: {file.path for file in part.files} for part in plan.parts}


def why(plan: RetirementPlan) -> list[tuple[str, datetime | None]]:
    return [(part.why, part.until) for part in plan.staying]


SUPERSEDED = run(S.SUPERSEDED, ago(days=31))


@pytest.mark.parametrize("state", [S.REJECTED, S.CANCELLED, S.EXPIRED, S.FAILED])
def test_what_an_ended_run_staged_goes_with_its_staging_log(state):
    plan = plan_retirement(facts(run(state, ago(days=7))))
    assert gone(plan) == {RetirementReason.ABANDONED: {DATA, LOG_ENTRY}}


@pytest.mark.parametrize("state", [S.REJECTED, S.CANCELLED, S.EXPIRED, S.FAILED])
def test_it_stays_until_the_policys_days_are_over(state):
    ended_at = ago(days=7) + timedelta(seconds=1)
    plan = plan_retirement(facts(run(state, ended_at)))
    assert gone(plan) == {}
    assert {until for _, until in why(plan)} == {ended_at + timedelta(days=7)}


def test_a_failed_run_ends_when_its_files_go():
    assert plan_retirement(facts(run(S.FAILED, ago(days=8)))).ends == {RUN: S.FAILED}


def test_an_ended_run_does_not_end_again():
    assert plan_retirement(facts(run(S.CANCELLED, ago(days=8)))).ends == {}


@pytest.mark.parametrize(
    "state", [S.PLANNED, S.STAGING, S.STAGED, S.VALIDATED, S.AWAITING_PUBLISH, S.APPROVED]
)
def test_a_run_in_flight_keeps_its_files_whatever_their_age(state):
    plan = plan_retirement(facts(run(state, ago(days=999))))
    assert gone(plan) == {}
    assert why(plan) == [(f"it is {state}, so it has not ended (`backfill cancel` ends it)", None)]


def test_a_run_whose_worker_may_still_write_keeps_its_files():
    until = NOW + timedelta(seconds=1)
    plan = plan_retirement(facts(run(S.CANCELLED, ago(days=9), busy_until=until)))
    assert (gone(plan), why(plan)) == ({}, [("a worker of it may still be writing", until)])


def test_a_failed_run_whose_worker_may_still_write_does_not_end():
    plan = plan_retirement(facts(run(S.FAILED, ago(days=9), busy_until=NOW + timedelta(1))))
    assert plan.ends == {}


def test_a_dry_run_ends_and_goes_once_it_was_judged():
    dry = run(S.VALIDATED, ago(days=7), is_candidate=True, rests_when_judged=True)
    plan = plan_retirement(facts(dry))
    assert gone(plan) == {RetirementReason.CANDIDATE: {DATA, LOG_ENTRY}}
    assert plan.ends == {RUN: S.VALIDATED}


def test_a_dark_candidate_stays_until_somebody_ends_it():
    dark = run(S.VALIDATED, ago(days=99), is_candidate=True)
    assert gone(plan_retirement(facts(dark))) == {}


def test_a_dark_candidate_that_somebody_ended_goes():
    dark = run(S.CANCELLED, ago(days=7), is_candidate=True)
    assert gone(plan_retirement(facts(dark))) == {RetirementReason.CANDIDATE: {DATA, LOG_ENTRY}}


def test_replaced_files_go_with_the_staging_log_and_say_until_when_they_could_return():
    removed = ago(days=30)
    plan = plan_retirement(facts(SUPERSEDED, log=log(removed_at={DATA: removed})))
    (part,) = plan.parts
    assert gone(plan) == {RetirementReason.SUPERSEDED: {DATA, LOG_ENTRY}}
    assert part.possible_until == removed + timedelta(days=30)


@pytest.mark.parametrize(("policy", "window"), [(1, 30), (30, 1)])
def test_the_longer_of_policy_and_rollback_window_counts(policy, window):
    removed = ago(days=29)
    plan = plan_retirement(
        facts(
            SUPERSEDED,
            retention=Retention(abandoned_after_days=1, superseded_after_days=policy),
            log=log(removed_at={DATA: removed}, rollback_window=timedelta(days=window)),
        )
    )
    assert gone(plan) == {}
    assert why(plan) == [("replaced or rolled back, and may return", removed + timedelta(days=30))]


def test_the_staging_log_stays_as_long_as_any_file_is_referenced():
    active = DATA.replace("part-0", "part-1")
    plan = plan_retirement(
        facts(
            folders=(folder(SUPERSEDED, data=(DATA, active)),),
            log=log(active=frozenset({active}), removed_at={DATA: ago(days=31)}),
        )
    )
    assert gone(plan) == {RetirementReason.SUPERSEDED: {DATA}}


def test_the_log_of_a_folder_without_data_goes_with_time():
    plan = plan_retirement(facts(folders=(folder(run(S.PUBLISHED, ago(days=8)), data=()),)))
    assert gone(plan) == {RetirementReason.UNPUBLISHED: {LOG_ENTRY}}


def test_what_a_published_run_staged_and_did_not_need_goes():
    plan = plan_retirement(facts(run(S.PUBLISHED, ago(days=8))))
    assert gone(plan) == {RetirementReason.UNPUBLISHED: {DATA, LOG_ENTRY}}


def test_a_chunk_that_a_failed_run_had_published_is_judged_by_what_readers_see():
    published = DATA.replace("part-0", "part-1")
    plan = plan_retirement(
        facts(
            folders=(folder(run(S.FAILED, ago(days=8)), data=(DATA, published)),),
            log=log(active=frozenset({published})),
        )
    )
    assert gone(plan) == {RetirementReason.ABANDONED: {DATA}}


def test_what_an_unfinished_run_needs_stays():
    replaced = log(removed_at={DATA: ago(days=99)})
    plan = plan_retirement(facts(SUPERSEDED, log=replaced, needed={OTHER: frozenset({DATA})}))
    assert (gone(plan), why(plan)) == ({}, [(f"{OTHER} has not ended and needs it", None)])


def test_a_version_that_is_needed_and_cannot_be_read_keeps_all_that_was_replaced():
    plan = plan_retirement(
        facts(SUPERSEDED, log=log(removed_at={DATA: ago(days=99)}), needed={OTHER: None})
    )
    assert gone(plan) == {}
    assert "can no longer be read" in why(plan)[0][0]


def test_a_run_that_ends_now_needs_nothing_any_more():
    failed, theirs = run(S.FAILED, ago(days=8)), "day=2025-01-05/part-9.parquet"
    plan = plan_retirement(
        facts(
            failed,
            log=log(removed_at={theirs: ago(days=99)}),
            elsewhere=(FoundFile(path=theirs, size_bytes=5),),
            needed={RUN: frozenset({theirs})},
        )
    )
    assert gone(plan)[RetirementReason.SUPERSEDED] == {theirs}


def test_a_compaction_that_was_replaced_goes_though_no_run_wrote_it():
    compacted = f"day={DAY}/part-c.parquet"
    plan = plan_retirement(
        facts(
            folders=(),
            log=log(removed_at={compacted: ago(days=30)}),
            elsewhere=(FoundFile(path=compacted, size_bytes=5),),
        )
    )
    assert [part.run_id for part in plan.parts] == [None]


def test_a_file_that_no_log_and_no_run_speaks_of_is_left_alone():
    strange = FoundFile(path=f"day={DAY}/part-x.parquet", size_bytes=5)
    plan = plan_retirement(facts(folders=(), elsewhere=(strange,)))
    assert (plan.parts, plan.staying) == ((), ())


def test_a_folder_of_no_known_run_is_left_alone_and_told():
    plan = plan_retirement(facts(None))
    assert gone(plan) == {}
    assert "knows no such run" in why(plan)[0][0]


def test_a_folder_that_holds_something_strange_keeps_its_log():
    plan = plan_retirement(facts(folders=(folder(run(S.CANCELLED, ago(days=8)), strange=1),)))
    assert gone(plan) == {RetirementReason.ABANDONED: {DATA}}


FORGOTTEN = log(is_whole=False)


def test_what_the_log_has_forgotten_counts_from_when_the_ledger_saw_it_last():
    plan = plan_retirement(facts(SUPERSEDED, log=FORGOTTEN, shown_until={(RUN, DAY): ago(days=30)}))
    assert gone(plan) == {RetirementReason.SUPERSEDED: {DATA, LOG_ENTRY}}


def test_what_the_log_has_forgotten_stays_while_its_rows_are_seen_on_that_day():
    seen = run(S.PUBLISHED, ago(days=99))
    plan = plan_retirement(facts(seen, log=FORGOTTEN, shown_until={(RUN, DAY): None}))
    assert gone(plan) == {}


def test_what_the_log_has_forgotten_and_was_never_seen_counts_from_the_runs_end():
    seen = run(S.PUBLISHED, ago(days=7))
    other_day = (RUN, date(2025, 1, 6))
    plan = plan_retirement(facts(seen, log=FORGOTTEN, shown_until={other_day: None}))
    assert gone(plan) == {RetirementReason.UNPUBLISHED: {DATA, LOG_ENTRY}}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"publishing": (OTHER,)}, f"{OTHER} is being published"),
        ({"log": log(version=8)}, "the ledger knows of version 9: the log is not whole"),
        (
            {
                "retention": Retention(
                    abandoned_after_days=1, superseded_after_days=1, kept_tables=(TABLE,)
                )
            },
            "governance.yaml keeps all of it",
        ),
    ],
    ids=["publishing", "log lost", "kept"],
)
def test_nothing_of_the_table_goes_while_something_is_in_the_way(said, expected):
    plan = plan_retirement(facts(run(S.FAILED, ago(days=99)), **said))
    assert expected in plan.obstacle
    assert (plan.parts, plan.ends) == ((), {})


PATHS = tuple(f"runs/{RUN}/day={DAY}/part-{number}.parquet" for number in range(5))
some_paths = st.frozensets(st.sampled_from(PATHS))
some_instants = st.integers(0, 100).map(lambda days: ago(days=days))


@given(
    active=some_paths,
    removed=st.dictionaries(st.sampled_from(PATHS), some_instants),
    needed=some_paths,
    state=st.sampled_from(RunState),
    ended_at=some_instants,
    is_whole=st.booleans(),
    is_dry=st.booleans(),
)
def test_nothing_that_is_referenced_or_needed_ever_goes(
    active, removed, needed, state, ended_at, is_whole, is_dry
):
    ours = run(state, ended_at, is_candidate=is_dry, rests_when_judged=is_dry)
    said = facts(
        folders=(folder(ours, data=PATHS),),
        log=log(active=active, removed_at=removed, is_whole=is_whole),
        needed={OTHER: needed},
    )
    plan = plan_retirement(said)
    assert plan.paths.isdisjoint(active | needed)
    assert plan_retirement(replace(said, now=NOW + timedelta(days=1))).paths >= plan.paths
