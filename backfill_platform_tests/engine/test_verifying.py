"""What was changed in the ledger or in the evidence is found, because each is held to the other."""

import sqlite3
from dataclasses import replace

import pytest

from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.engine.consent.approving import decide, draft_approval
from backfill_platform.engine.look.verifying import verify_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import load_policy
from backfill_platform.engine.records import bundle
from backfill_platform.settings import PROJECT
from backfill_platform_tests.engine.lives import publish_whole, stage_whole
from backfill_platform_tests.readings import BRONZE, week


@pytest.fixture
def strict(platform):
    return replace(platform, policy=load_policy(PROJECT / "governance.yaml"))


@pytest.fixture
def manifest(strict, intent):
    return plan_run(strict, intent(BRONZE, week(days=3), "verify"))


@pytest.fixture
def approved(strict, manifest):
    decide(strict, draft_approval(strict, manifest.run_id, principal="team-lead"))
    return manifest


@pytest.fixture
def verify(strict, manifest):
    def call(check_signature=lambda _: "SHA256:key"):
        return verify_run(
            strict.ledger, strict.evidence, manifest.run_id, check_signature=check_signature
        )

    return call


def test_an_untouched_run_holds(approved, verify):
    found = verify()
    assert (found.holds, found.problems) == (True, ())


def test_an_unsigned_decision_is_noted_and_no_problem(approved, verify):
    assert verify().notes == ("approved by team-lead as team-lead, not signed",)


def test_a_signature_that_counts_no_longer_is_noted(strict, manifest, verify):
    drafted = draft_approval(strict, manifest.run_id, principal="team-lead")
    strict.ledger.record_approval(replace(drafted, signature="once good"), now=strict.clock())

    def refuse(_):
        raise ApprovalRefused("the key was revoked")

    (note,) = verify(refuse).notes
    assert note.endswith("its signature does not count: the key was revoked")


def test_a_manifest_changed_in_the_evidence_is_found(strict, manifest, verify):
    path = bundle(strict, manifest.run_id).manifest_path
    path.write_text(path.read_text().replace('"tests"', '"nobody"'))
    assert verify().problems == ("evidence: manifest.json differs from the manifest in the ledger",)


def test_a_record_changed_in_the_evidence_is_found(strict, approved, verify):
    path = bundle(strict, approved.run_id).records_path
    path.write_text(path.read_text().replace("team-lead", "team-load"))
    assert verify().problems == ("evidence: records.jsonl was changed at line 2",)


def test_records_cut_off_at_the_end_are_found(strict, approved, verify):
    path = bundle(strict, approved.run_id).records_path
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    (problem,) = verify().problems
    assert problem == "evidence: the record of the decision of team-lead is gone or differs"


def test_evidence_that_is_gone_is_found(strict, manifest, verify):
    kept = bundle(strict, manifest.run_id)
    kept.records_path.unlink()
    kept.manifest_path.unlink()
    kept.folder.rmdir()
    (problem,) = verify().problems
    assert problem.endswith("is gone")


def test_a_publication_without_its_record_is_found(strict, manifest, verify):
    stage_whole(strict.ledger, manifest)
    publish_whole(strict.ledger, manifest)
    (problem,) = verify().problems
    assert problem.startswith("evidence: the record of the publication of 2025-01-01")


def test_a_decision_turned_round_in_the_database_is_found(strict, home, approved, verify):
    with sqlite3.connect(home / "ledger.db") as database:
        for (trigger,) in database.execute("SELECT name FROM sqlite_master WHERE type='trigger'"):
            database.execute(f"DROP TRIGGER {trigger}")
        database.execute("UPDATE approval SET decision = ?", (Decision.REJECTED.value,))
    assert not verify().holds
