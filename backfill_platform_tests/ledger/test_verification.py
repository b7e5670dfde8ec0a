"""Whatever is changed in the database behind the ledger's back is found, and named."""

import pytest

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.runs import RunRecord
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    NOW,
    after,
    approval,
    january,
    move,
    register,
    rejection,
)
from backfill_platform_tests.ledger.tampering import tamper

FORGED_APPROVAL = (
    "INSERT INTO approval SELECT 'forged', run_id, manifest_digest, 'mallory', role, decision, "
    "reason, decided_at, expires_at, signature FROM approval"
)


@pytest.fixture
def run(ledger: Ledger) -> RunRecord:
    """Planned, approved by one principal, and begun: four events and one approval."""
    run = register(ledger, "cli:1", january(1, 9))
    ledger.record_approval(approval(run, signature="SSHSIG"), now=NOW)
    move(ledger, run.run_id, RunState.PLANNED, RunState.APPROVED, RunState.STAGING)
    return ledger.run(run.run_id)


def test_an_untouched_run_has_no_problems(ledger: Ledger, run: RunRecord) -> None:
    assert ledger.verify_run(run.run_id) == ()


def test_an_untouched_rejection_has_no_problems(ledger: Ledger) -> None:
    run = register(ledger)
    ledger.record_approval(rejection(run), now=after(3))
    assert ledger.verify_run(run.run_id) == ()


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE run_event SET cause = 'x' WHERE seq = 3", "event 3 does not follow"),
        ("UPDATE run_event SET actor = 'x' WHERE seq = 2", "event 2 does not follow"),
        ("DELETE FROM run_event WHERE seq = 2", "event 2 does not follow"),
        ("DELETE FROM run_event WHERE seq = 4", "last event led to APPROVED"),
        ("DELETE FROM run_event", "every event of the run is gone"),
        ("UPDATE run SET state = 'STAGED'", "the run is STAGED, and its last event led to STAGING"),
        ("UPDATE run SET manifest_json = manifest_json || ' '", "the manifest's digest is"),
        ("UPDATE run SET manifest_json = 'gone'", "the manifest cannot be read"),
        ("UPDATE run SET manifest_json = '[]'", "the manifest cannot be read"),
        ("UPDATE run SET manifest_digest = 'other'", "the first event names another manifest"),
        ("UPDATE run SET manifest_digest = 'other'", "and the run names other"),
        ("UPDATE run SET table_name = 'gold.x'", "table is gold.x in the run, and silver."),
        ("UPDATE run SET kind = 'REPAIR'", "kind is REPAIR in the run, and RESTATEMENT in its"),
        ("UPDATE run SET mode = 'LIVE'", "mode is LIVE in the run, and BACKFILL in its manifest"),
        ("UPDATE run SET transform_version = '9.9.9'", "transform_version is 9.9.9 in the run"),
        ("UPDATE run SET days = '2025-01-01'", "days is 2025-01-01 in the run"),
        ("UPDATE run SET days = NULL", "days is None in the run"),
        ("UPDATE run SET valid_until = NULL", "valid_until is None in the run"),
        ("UPDATE run SET reason = 'fine'", "reason is fine in the run, and wrong zone in its"),
        ("UPDATE run SET group_id = 'other'", "group_id is other in the run"),
        ("UPDATE run SET kind = 'TRICK'", "a word that no ledger writes: 'TRICK'"),
        ("UPDATE run_event SET details = '{' WHERE seq = 2", "a word that no ledger writes"),
        ("UPDATE approval SET principal = 'mallory'", "of mallory is not what was decided"),
        ("UPDATE approval SET role = 'director'", "of bo is not what was decided"),
        ("UPDATE approval SET decision = 'REJECTED'", "of bo is not what was decided"),
        ("UPDATE approval SET reason = 'x'", "of bo is not what was decided"),
        ("UPDATE approval SET signature = NULL", "of bo is not what was decided"),
        ("UPDATE approval SET manifest_digest = 'other'", "of bo is about another manifest"),
        ("UPDATE approval SET expires_at = '2030-01-01 00:00:00.000000'", "is not what was"),
        ("UPDATE approval SET decided_at = '2020-01-01 00:00:00.000000'", "is not what was"),
        ("UPDATE approval SET approval_id = 'forged'", "approval forged of bo has no event"),
        ("DELETE FROM approval", "has an event and is gone"),
        (FORGED_APPROVAL, "approval forged of mallory has no event"),
    ],
)
def test_any_tampering_with_a_run_is_found(
    ledger: Ledger, ledger_url: str, run: RunRecord, statement: str, problem: str
) -> None:
    tamper(ledger_url, statement)
    found = ledger.verify_run(run.run_id)
    assert any(problem in sentence for sentence in found), found


def test_every_problem_is_named(ledger: Ledger, ledger_url: str, run: RunRecord) -> None:
    tamper(
        ledger_url,
        "UPDATE run SET state = 'STAGED', kind = 'REPAIR'",
        "DELETE FROM approval",
    )
    assert len(ledger.verify_run(run.run_id)) == 3


def test_tampering_with_another_run_is_not_held_against_this_one(
    ledger: Ledger, ledger_url: str, run: RunRecord
) -> None:
    other = register(ledger, "other")
    tamper(ledger_url, f"UPDATE run SET kind = 'REPAIR' WHERE run_id = '{other.run_id}'")
    assert ledger.verify_run(run.run_id) == ()
    assert len(ledger.verify_run(other.run_id)) == 1
