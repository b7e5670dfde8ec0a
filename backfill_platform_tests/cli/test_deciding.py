"""Consent by the command line: shown before it is given, signed here or elsewhere, or refused."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.governance.signatures import sign
from backfill_platform_tests.engine.lives import stage_whole
from backfill_platform_tests.readings import BRONZE, land, week

PLAIN = NoEncryption()

pytestmark = pytest.mark.usefixtures("shipped_policy")


@pytest.fixture
def small(call, platform):
    """Three days: a team lead has to agree before publication."""
    call("plan", BRONZE, "--days", "2025-01-01..2025-01-03", "--reason", "r", "--confirm")
    return platform.ledger.runs()[0].run_id


@pytest.fixture
def large(call, platform):
    """Forty days: a manager and a data engineering lead have to sign before staging."""
    land(platform.landing, week(days=40))
    call("plan", BRONZE, "--days", "2025-01-01..2025-02-09", "--reason", "r", "--confirm")
    return platform.ledger.runs()[0].run_id


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes a private key that counts for the manager."""

    def write(encryption: KeySerializationEncryption = PLAIN) -> Path:
        private = Ed25519PrivateKey.generate()
        public = private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
        signers = tmp_path / "allowed_signers"
        signers.write_text(f"manager {public.decode()}\n")
        monkeypatch.setenv("BACKFILL_ALLOWED_SIGNERS", str(signers))
        path = tmp_path / "key"
        path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, encryption))
        return path

    return write


def test_consent_is_shown_before_it_is_given(call, platform, small):
    answer = call("approve", small, "--as", "team-lead", "--dry-run")
    assert "team-lead, before it is published" in answer.stdout
    assert "It would be approved by team-lead as team-lead." in answer.stdout
    assert platform.ledger.approvals(small) == ()


def test_consent_is_recorded_when_it_is_confirmed(call, platform, small):
    answer = call("approve", small, "--as", "team-lead", "--confirm", "--json")
    assert answer.document["missing_roles"] == []
    assert [one.principal for one in platform.ledger.approvals(small)] == ["team-lead"]


def test_consent_given_twice_is_given_once(call, platform, small):
    call("approve", small, "--as", "team-lead", "--confirm")
    again = call("approve", small, "--as", "team-lead", "--confirm", "--json")
    assert (again.exit_code, again.document["was_known"]) == (0, True)
    assert len(platform.ledger.approvals(small)) == 1


def test_a_script_that_does_not_confirm_is_refused(call, small):
    assert call("approve", small, "--as", "team-lead").exit_code == 2


def test_somebody_without_the_role_is_refused_in_one_sentence(call, small):
    answer = call("approve", small, "--as", "ana", "--confirm")
    assert answer.exit_code == 1
    assert answer.stderr.startswith("approval-refused: ")
    assert len(answer.stderr.splitlines()) == 1


def test_nobody_named_is_a_usage_error(call, small):
    assert call("approve", small, "--confirm").exit_code == 2


def test_a_consent_that_has_to_be_signed_is_refused_without_a_key(call, large):
    answer = call("approve", large, "--as", "manager", "--confirm")
    assert (answer.exit_code, "sign it with --key" in answer.stderr) == (1, True)


def test_a_key_that_is_named_signs(call, platform, large, key):
    answer = call("approve", large, "--as", "manager", "--key", str(key()), "--confirm", "--json")
    assert answer.document["missing_roles"] == ["data-engineering-lead"]
    (approval,) = platform.ledger.approvals(large)
    assert approval.signature.startswith("-----BEGIN SSH SIGNATURE-----")


def test_an_encrypted_key_asks_for_nothing_where_there_is_no_terminal(call, large, key):
    path = key(BestAvailableEncryption(b"secret"))
    answer = call("approve", large, "--as", "manager", "--key", str(path), "--confirm")
    assert (answer.exit_code, "needs a passphrase" in answer.stderr) == (1, True)


def test_a_request_is_signed_elsewhere_and_brought_back(call, platform, large, key, tmp_path):
    printed = call("approve", large, "--as", "manager", "--print-request").stdout
    request, signature = tmp_path / "approval.json", tmp_path / "approval.json.sig"
    request.write_text(printed)
    signature.write_text(sign(printed, key().read_bytes()))
    back = ("--request", str(request), "--signature", str(signature))
    answer = call("approve", large, *back, "--confirm")
    assert answer.exit_code == 0
    assert [one.principal for one in platform.ledger.approvals(large)] == ["manager"]


def test_printing_a_request_records_nothing(call, platform, large):
    call("approve", large, "--as", "manager", "--print-request")
    assert platform.ledger.approvals(large) == ()


@pytest.mark.parametrize("text", ["no json", "[]", "{}"])
def test_a_request_that_was_not_printed_here_is_a_usage_error(call, small, tmp_path, text):
    request, signature = tmp_path / "approval.json", tmp_path / "sig"
    request.write_text(text)
    signature.write_text("")
    back = ("--request", str(request), "--signature", str(signature))
    assert call("approve", small, *back, "--confirm").exit_code == 2


def test_a_request_that_was_changed_is_refused(call, small, tmp_path):
    printed = call("approve", small, "--as", "team-lead", "--print-request").stdout
    request, signature = tmp_path / "approval.json", tmp_path / "sig"
    request.write_text(printed + "\n")
    signature.write_text("")
    back = ("--request", str(request), "--signature", str(signature))
    answer = call("approve", small, *back, "--confirm")
    assert (answer.exit_code, "was changed after" in answer.stderr) == (2, True)


def test_a_rejection_ends_the_run_with_its_reason(call, platform, small):
    call("reject", small, "--as", "team-lead", "--reason", "wrong month", "--confirm")
    assert platform.ledger.run(small).state is RunState.REJECTED
    assert "wrong month" in platform.ledger.events(small)[-1].cause


def test_a_rejection_is_shown_before_it_is_recorded(call, platform, small):
    said = ("--as", "team-lead", "--reason", "wrong month")
    answer = call("reject", small, *said, "--dry-run")
    assert "It would be rejected by team-lead" in answer.stdout
    assert platform.ledger.run(small).state is RunState.PLANNED


def test_a_run_that_waits_for_consent_ends_with_3_in_a_second(call, large):
    answer = call("run", large, "--confirm")
    assert answer.exit_code == 3
    assert "waits for the approval of manager and data-engineering-lead" in answer.stderr


def test_what_running_would_do_is_shown(call, platform, small):
    answer = call("run", small, "--dry-run")
    assert "compute and judge 3 of 3 partitions" in answer.stdout
    assert platform.ledger.run(small).state is RunState.PLANNED


def test_a_cancelled_run_is_not_run(call, small):
    call("cancel", small, "--reason", "a mistake", "--confirm")
    answer = call("run", small, "--confirm")
    assert (answer.exit_code, "CANCELLED" in answer.stderr) == (1, True)


def test_cancelling_is_shown_before_it_is_done(call, platform, small):
    answer = call("cancel", small, "--reason", "a mistake", "--dry-run")
    assert "would be cancelled" in answer.stdout
    assert platform.ledger.run(small).state is RunState.PLANNED


def test_cancelling_names_who_did_it(call, platform, small):
    call("cancel", small, "--reason", "a mistake", "--by", "ana", "--confirm")
    assert platform.ledger.events(small)[-1].actor == "ana"


def test_only_a_failed_run_is_tried_again(call, small):
    assert call("retry", small, "--confirm").exit_code == 1


def test_a_validated_run_that_waits_for_consent_is_watched_to_3(call, platform, small):
    from backfill_platform.engine.loading import load_manifest

    manifest = load_manifest(platform, small)
    stage_whole(platform.ledger, manifest)
    platform.ledger.move(
        small,
        RunState.VALIDATED,
        RunState.AWAITING_PUBLISH,
        actor="w",
        cause="publication waits for team-lead",
        details={},
        now=platform.clock(),
    )
    answer = call("watch", small)
    assert answer.exit_code == 3
    assert f"backfill approve {small} --as NAME --role team-lead" in answer.stdout
