"""Which lines of an allowed_signers file count, for whom, for what and when."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from backfill_platform.domain.errors import ApprovalRefused, DeclarationInvalid
from backfill_platform.governance.key_file import KeyFile, read_key_file
from backfill_platform_tests.governance.samples import SHIPPED

GOLDEN = Path(__file__).parent.parent / "golden" / "approvals"
KEY = " ".join((GOLDEN / "director.pub").read_text().split()[:2])
NOON = datetime(2026, 7, 4, 12, tzinfo=UTC)


def keys(*lines: str) -> KeyFile:
    return read_key_file("\n".join(lines), origin="allowed_signers")


def allow(file: KeyFile, principal: str = "director", at: datetime = NOON) -> None:
    raw = keys(f"any {KEY}").entries[0].key
    file.refuse_unless_valid(raw, principal=principal, at=at)


def refusal(file: KeyFile, principal: str = "director", at: datetime = NOON) -> str:
    with pytest.raises(ApprovalRefused) as refused:
        allow(file, principal, at)
    return str(refused.value)


def test_the_shipped_file_is_empty():
    shipped = SHIPPED.parent / "allowed_signers"
    assert read_key_file(shipped.read_text(), origin="allowed_signers").entries == ()


def test_comments_and_empty_lines_are_passed_over():
    assert len(keys("# director", "", "   ", f"  director {KEY} a comment").entries) == 1


@pytest.mark.parametrize(
    ("patterns", "principal"),
    [
        ("director", "director"),
        ("manager,director", "director"),
        ("*@example.org", "ada@example.org"),
        ("direct?r", "director"),
        ('"director, manager"', "manager"),
        ("*,!manager", "director"),
    ],
)
def test_a_key_signs_for_the_principals_that_its_line_names(patterns, principal):
    allow(keys(f"{patterns} {KEY}"), principal)


@pytest.mark.parametrize(
    ("patterns", "principal"),
    [
        ("director", "Director"),
        ("director", "director2"),
        ("*@example.org", "ada@example.com"),
        ("direct?r", "directooor"),
        ("d[ai]rector", "director"),
        ("*,!manager", "manager"),
        ("!manager", "director"),
    ],
)
def test_a_key_does_not_sign_for_others(patterns, principal):
    assert f"is not one of '{principal}'" in refusal(keys(f"{patterns} {KEY}"), principal)


@pytest.mark.parametrize("names", ["backfill-approval", "git,backfill-approval", "backfill-*"])
def test_a_line_may_name_what_its_key_signs(names):
    allow(keys(f'director namespaces="{names}" {KEY}'))


def test_a_key_for_another_purpose_does_not_count():
    assert "may sign for git only" in refusal(keys(f'director namespaces="git" {KEY}'))


OPTIONS = 'valid-after="20260704Z",valid-before="20260705120000Z"'


@pytest.mark.parametrize(
    "day", [datetime(2026, 7, 4, tzinfo=UTC), datetime(2026, 7, 5, 12, tzinfo=UTC)]
)
def test_a_key_counts_from_the_first_to_the_last_moment_of_its_line(day):
    allow(keys(f"director {OPTIONS} {KEY}"), at=day)


def test_a_key_does_not_count_before_its_line_begins():
    early = datetime(2026, 7, 3, 23, 59, 59, tzinfo=UTC)
    assert "is valid from 2026-07-04 00:00:00 UTC only" in refusal(
        keys(f"director {OPTIONS} {KEY}"), at=early
    )


def test_a_key_does_not_count_after_its_line_ends():
    late = datetime(2026, 7, 5, 12, 0, 1, tzinfo=UTC)
    assert "was revoked or ended at 2026-07-05 12:00:00 UTC" in refusal(
        keys(f"director {OPTIONS} {KEY}"), at=late
    )


def test_one_line_that_allows_the_key_is_enough():
    ended = f'director valid-before="20200101Z" {KEY}'
    allow(keys(ended, f"director {KEY}"))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f"director cert-authority {KEY}", "certificate authorities are not used here"),
        ("director ssh-rsa AAAAB3NzaC1yc2E=", "a key of type 'ssh-rsa' does not count"),
        ("director sk-ssh-ed25519@openssh.com AAAA", "a key of type 'sk-ssh-ed25519@openssh.com'"),
        (f'director valid-before="20260704" {KEY}', "without the Z it would mean another moment"),
        (f'director valid-before="20261304Z" {KEY}', "time data '20261304Z' does not match"),
        (
            f'director valid-after="20260704Z",valid-before="20260704Z" {KEY}',
            "valid-before is not later than valid-after",
        ),
        (f'director touch="yes" {KEY}', "Invalid option"),
        (f'director namespaces="a",namespaces="b" {KEY}', "Multiple 'namespaces' clauses"),
        ("director", "Invalid line"),
        ("director ssh-ed25519", "Not space-separated OpenSSH format public key"),
        ("director ssh-ed25519 !!!", "Only base64 data is allowed"),
        (f"director {KEY[:-4]}", ""),
        (f"director {KEY}AAAA", ""),
        ("director ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAAA==", ""),
    ],
)
def test_a_line_that_cannot_count_is_refused_with_its_number(line, problem):
    with pytest.raises(DeclarationInvalid) as refused:
        keys("# keys", line)
    assert str(refused.value).startswith("allowed_signers, line 2: allowed signer: ")
    assert problem in str(refused.value)
