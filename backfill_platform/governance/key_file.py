"""Whose key signs for whom: the `allowed_signers` format of OpenSSH, and what of it counts here.

Only Ed25519 keys count; certificate authorities and times without a zone are refused when the file
is read. A key is revoked by removing its line, or by ending it with `valid-before`.
"""

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from sshsig import PublicKey
from sshsig.allowed_signers import AllowedSigner

from backfill_platform.domain.approvals import SIGNATURE_NAMESPACE
from backfill_platform.domain.errors import ApprovalRefused, DeclarationInvalid

KEY_TYPE = "ssh-ed25519"

_TIME = re.compile(r"\d{8}(\d{4}(\d{2})?)?Z")
_TIME_FORMATS = {9: "%Y%m%dZ", 13: "%Y%m%d%H%MZ", 15: "%Y%m%d%H%M%SZ"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedKey:
    """One line of the file."""

    principals: str  # patterns, separated by commas; `!` excludes
    namespaces: str | None  # patterns of the same kind; nothing allows all
    valid_after: datetime | None
    valid_before: datetime | None
    key: bytes  # as it travels in a signature

    def signs_for(self, principal: str) -> bool:
        return _is_listed(principal, self.principals)

    def objection(self, at: datetime) -> str | None:
        """Why it does not count at that time, if it does not."""
        if self.namespaces is not None and not _is_listed(SIGNATURE_NAMESPACE, self.namespaces):
            return f"may sign for {self.namespaces} only, not for {SIGNATURE_NAMESPACE}"
        if self.valid_after is not None and at < self.valid_after:
            return f"is valid from {_shown(self.valid_after)} only, not at {_shown(at)}"
        if self.valid_before is not None and at > self.valid_before:
            return f"was revoked or ended at {_shown(self.valid_before)}, before {_shown(at)}"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFile:
    origin: str
    entries: tuple[AllowedKey, ...]

    def refuse_unless_valid(self, key: bytes, *, principal: str, at: datetime) -> None:
        """One line of the file that allows the key for the principal at that time is enough."""
        own = [entry for entry in self.entries if entry.key == key and entry.signs_for(principal)]
        objections = [entry.objection(at) for entry in own]
        if None in objections:
            return
        name = f"The key {fingerprint(key)}"
        if not objections:
            raise ApprovalRefused(
                f"{name} is not one of {principal!r} in {self.origin}; sign with a key that is, "
                "or have this one reviewed and added"
            )
        raise ApprovalRefused(f"{name} of {principal!r} {objections[0]} ({self.origin})")


def fingerprint(key: bytes) -> str:
    """As `ssh-keygen -l` shows it."""
    digest = hashlib.sha256(key).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def read_key_file(text: str, *, origin: str) -> KeyFile:
    return KeyFile(origin=origin, entries=tuple(_read_lines(text, origin)))


def _read_lines(text: str, origin: str) -> Iterator[AllowedKey]:
    for number, line in enumerate(text.splitlines(), start=1):
        written = line.strip()
        if not written or written.startswith("#"):
            continue
        try:
            yield _read_line(written)
        except (ValueError, IndexError, NotImplementedError) as wrong:
            raise DeclarationInvalid(
                subject=f"{origin}, line {number}",
                field="allowed signer",
                problem=str(wrong) or "is no line of a file of allowed signers",
            ) from wrong


def _read_line(line: str) -> AllowedKey:
    signer = AllowedSigner.parse(line)
    options = signer.options or {}
    if "cert-authority" in options:
        raise ValueError("certificate authorities are not used here; list each key by itself")
    if signer.key_type != KEY_TYPE:
        raise ValueError(
            f"a key of type {signer.key_type!r} does not count; only {KEY_TYPE} does: "
            "`ssh-keygen -t ed25519`"
        )
    after, before = _time(options, "valid-after"), _time(options, "valid-before")
    if after is not None and before is not None and before <= after:
        raise ValueError("valid-before is not later than valid-after, so the key never counts")
    return AllowedKey(
        principals=signer.principals,
        namespaces=options.get("namespaces"),
        valid_after=after,
        valid_before=before,
        key=_key_of(signer.base64_key),
    )


def _key_of(encoded: str) -> bytes:
    key = base64.b64decode(encoded, validate=True)
    known = PublicKey.from_openssh_str(f"{KEY_TYPE} {encoded}")  # refuses what is no such key
    if known.openssh_str().split()[1] != encoded:
        raise ValueError("the key is followed by something that is no part of it")
    return key


def _time(options: dict[str, str], name: str) -> datetime | None:
    given = options.get(name)
    if given is None:
        return None
    if not _TIME.fullmatch(given):
        raise ValueError(
            f"{name}={given!r} has to be YYYYMMDD[HHMM[SS]]Z; without the Z it would mean another "
            "moment on each machine"
        )
    return datetime.strptime(given, _TIME_FORMATS[len(given)]).replace(tzinfo=UTC)


def _is_listed(name: str, patterns: str) -> bool:
    """OpenSSH's lists: * and ? match, and a name that a `!` excludes is out whatever else is in."""
    parts = [part.strip() for part in patterns.split(",")]
    excluded = [part[1:] for part in parts if part.startswith("!")]
    included = [part for part in parts if part and not part.startswith("!")]
    return _is_matched(name, included) and not _is_matched(name, excluded)


def _is_matched(name: str, patterns: list[str]) -> bool:
    return any(re.fullmatch(_as_expression(pattern), name) for pattern in patterns)


def _as_expression(pattern: str) -> str:
    return re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")


def _shown(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
