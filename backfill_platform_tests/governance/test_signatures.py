"""Signatures are those of ssh-keygen: ours equal theirs, theirs verify, and nothing else does."""

import base64
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.approvals import Approval, Decision, read_signed_text
from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.governance.key_file import read_key_file
from backfill_platform.governance.signatures import sign, verifier, verify

GOLDEN = Path(__file__).parent.parent / "golden" / "approvals"


def golden(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")


def private_key(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


NOW = datetime(2026, 7, 4, 12, tzinfo=UTC)
TEXT = golden("approval.json")
SIGNATURE = golden("director.sig")
KEYS = read_key_file(
    f"director {golden('director.pub')}manager {golden('manager.pub')}", origin="allowed_signers"
)
# As `ssh-keygen -lf director.pub` shows it.
FINGERPRINT = "SHA256:uBsNBHefg8fFAQRAaX7R7N5J6IDeWBQ/waAyWpdzZUw"

APPROVAL = Approval(
    run_id=RunId("bf-20260704-case_sla_daily-3.1.0-001"),
    manifest_digest="8d91ab7c" * 8,
    principal="director",
    role="director",
    decision=Decision.APPROVED,
    reason="reviewed with the regulator – §29",
    decided_at=NOW,
    expires_at=NOW + timedelta(days=3),
    signature=SIGNATURE,
)


def refusal(signature: str, *, text: str = TEXT, principal: str = "director") -> str:
    with pytest.raises(ApprovalRefused) as refused:
        verify(text, signature, principal=principal, keys=KEYS, at=NOW)
    return str(refused.value)


def refused_key(key: bytes, passphrase: bytes | None = None) -> str:
    with pytest.raises(ApprovalRefused) as refused:
        sign(TEXT, key, passphrase=passphrase)
    return str(refused.value)


def test_the_text_that_is_signed_stays_the_same_to_the_byte():
    assert APPROVAL.signed_text == TEXT


def test_our_signature_is_that_of_ssh_keygen_to_the_byte():
    assert sign(TEXT, private_key("director")) == SIGNATURE


def test_our_signature_with_an_encrypted_key_is_that_of_ssh_keygen():
    signed = sign(TEXT, private_key("manager"), passphrase=b"open sesame")
    assert signed == golden("manager.sig")


@pytest.mark.parametrize("name", ["director.sig", "director-sha256.sig"])
def test_a_signature_of_ssh_keygen_is_accepted(name):
    assert verify(TEXT, golden(name), principal="director", keys=KEYS, at=NOW) == FINGERPRINT


def test_a_signature_is_accepted_from_a_machine_with_other_line_ends():
    other = "\r\n" + SIGNATURE.replace("\n", "\r\n")
    assert verify(TEXT, other, principal="director", keys=KEYS, at=NOW) == FINGERPRINT


def test_a_signature_of_another_text_is_refused():
    assert refusal(SIGNATURE, text=TEXT + "\n") == (
        "The signature of 'director' is not one of this text: the approval was changed after it "
        "was signed, or another text was; sign it again"
    )


def test_a_signature_for_another_purpose_is_refused():
    assert refusal(golden("director-git.sig")) == (
        "The signature is for 'git' and not for an approval; "
        "sign with `ssh-keygen -Y sign -n backfill-approval`"
    )


def test_a_signature_with_another_type_of_key_is_refused():
    assert refusal(golden("rsa.sig")).startswith("Only Ed25519 keys sign approvals")


def test_a_key_that_is_not_in_the_key_file_is_refused():
    stranger = sign(TEXT, private_key("stranger"))
    assert "is not one of 'director' in allowed_signers" in refusal(stranger)


def test_a_key_of_another_principal_is_refused():
    assert "is not one of 'manager' in allowed_signers" in refusal(SIGNATURE, principal="manager")


def raw() -> bytes:
    return base64.b64decode("".join(SIGNATURE.splitlines()[1:-1]))


def armored(content: bytes) -> str:
    body = base64.b64encode(content).decode()
    return f"-----BEGIN SSH SIGNATURE-----\n{body}\n-----END SSH SIGNATURE-----\n"


DAMAGE: dict[str, tuple[Callable[[], str], str]] = {
    "nothing": (lambda: "", "This is no SSH signature"),
    "a word": (lambda: "yes", "This is no SSH signature"),
    "text around it": (lambda: "hello\n" + SIGNATURE, "This is no SSH signature"),
    "two of them": (lambda: SIGNATURE + SIGNATURE, "This is no SSH signature"),
    "no base64": (lambda: SIGNATURE.replace("U1NI", "U1N", 1), "The SSH signature is damaged"),
    "another magic": (lambda: armored(b"SSHGIS" + raw()[6:]), "The SSH signature is damaged"),
    "another version": (
        lambda: armored(raw()[:9] + b"\x02" + raw()[10:]),
        "The SSH signature is damaged",
    ),
    "cut off": (lambda: armored(raw()[:-8]), "The SSH signature holds more or less"),
    "something behind it": (lambda: armored(raw() + b"x"), "The SSH signature holds more or less"),
    "another bit": (
        lambda: armored(raw()[:-1] + bytes([raw()[-1] ^ 1])),
        "The signature of 'director' is not one of this text",
    ),
    "another hash": (
        lambda: armored(raw().replace(b"sha512", b"sha384")),
        "The signature hashes with neither",
    ),
    "another inner type": (
        lambda: armored(raw()[:-83] + raw()[-83:].replace(b"ssh-ed25519", b"ssh-ed25518")),
        "Only Ed25519 keys sign approvals",
    ),
}


@pytest.mark.parametrize(("make", "why"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_signature_is_refused(make, why):
    assert refusal(make()).startswith(why)


@given(st.integers(0, len(raw()) - 1), st.integers(1, 255))
def test_no_byte_of_a_signature_can_be_changed(position, bits):
    changed = bytearray(raw())
    changed[position] ^= bits
    assert refusal(armored(bytes(changed)))


def test_a_private_key_with_a_passphrase_asks_for_it():
    assert refused_key(private_key("manager")) == (
        "The private key needs a passphrase; give it, or sign with `ssh-keygen -Y sign`"
    )


def test_a_wrong_passphrase_is_refused():
    answer = refused_key(private_key("manager"), b"open barley")
    assert answer.startswith("The private key cannot be read")


def test_a_passphrase_for_a_key_that_has_none_is_refused():
    assert refused_key(private_key("director"), b"x").startswith("The private key has no pass")


def test_a_public_key_does_not_sign():
    assert refused_key(private_key("director.pub")).startswith("The private key cannot be read")


def test_a_private_key_of_another_type_does_not_sign():
    key = ec.generate_private_key(ec.SECP256R1())
    other = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    assert refused_key(other).startswith("Only Ed25519 keys sign approvals")


def keys_with(options: str):
    return read_key_file(f"director {options} {golden('director.pub')}", origin="allowed_signers")


def test_a_key_must_count_when_it_signs_and_still_when_it_is_judged():
    revoked = keys_with('valid-before="20260705Z"')
    check = verifier(revoked, now=NOW + timedelta(days=2))
    with pytest.raises(ApprovalRefused, match="was revoked or ended at 2026-07-05 00:00:00 UTC"):
        check(APPROVAL)


def test_a_key_cannot_sign_for_the_time_before_it_counted():
    check = verifier(keys_with('valid-after="20260705Z"'), now=NOW + timedelta(days=2))
    with pytest.raises(ApprovalRefused, match="is valid from 2026-07-05 00:00:00 UTC only"):
        check(APPROVAL)


def test_a_signed_approval_is_accepted_by_the_verifier():
    assert verifier(KEYS, now=NOW)(APPROVAL) == FINGERPRINT


def test_an_approval_that_was_changed_after_it_was_signed_is_refused():
    other = replace(APPROVAL, manifest_digest="0" * 64)
    with pytest.raises(ApprovalRefused, match="is not one of this text"):
        verifier(KEYS, now=NOW)(other)


def test_an_approval_without_a_signature_is_refused_by_the_verifier():
    with pytest.raises(ApprovalRefused, match="This is no SSH signature"):
        verifier(KEYS, now=NOW)(replace(APPROVAL, signature=None))


def test_an_approval_that_was_signed_elsewhere_is_read_from_its_text():
    assert read_signed_text(TEXT, SIGNATURE) == APPROVAL


@pytest.mark.parametrize("text", ["", "{}", "[]", TEXT.replace("role", "roll")])
def test_a_text_that_is_no_approval_is_refused(text):
    with pytest.raises(ApprovalRefused, match="This is not the text of an approval"):
        read_signed_text(text, SIGNATURE)


def test_a_text_that_an_editor_wrote_anew_is_refused():
    with pytest.raises(ApprovalRefused, match="was written anew"):
        read_signed_text(TEXT + "\n", SIGNATURE)
