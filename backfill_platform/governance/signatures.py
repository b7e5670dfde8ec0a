"""Makes and checks signatures of approvals, as `ssh-keygen -Y sign` and `-Y verify` do.

An Ed25519 signature has one possible text, so ours and theirs are the same bytes. Private keys are
handed in and never kept; which keys count for whom, and when, stands in `key_file`.
"""

import base64
import binascii
import hashlib
import re
import textwrap
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

import sshsig
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_ssh_private_key,
)
from sshsig.sshsig import SshsigSignature, SshsigWrapper

from backfill_platform.domain.approvals import SIGNATURE_NAMESPACE
from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.governance.key_file import KEY_TYPE, KeyFile, fingerprint, read_key_file

__all__ = ["KeyFile", "read_key_file", "sign", "verifier", "verify"]

_NAMESPACE = SIGNATURE_NAMESPACE.encode()
_HASH = b"sha512"  # what ssh-keygen signs with
_HASHES = (_HASH, b"sha256")  # what it may be told to sign with
_VERSION = (1).to_bytes(4)
_LINE = 70  # characters, as ssh-keygen breaks them
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_ARMORED = re.compile(rf"{_BEGIN}\s+([A-Za-z0-9+/=\s]+){_END}")


def sign(text: str, private_key: bytes, *, passphrase: bytes | None = None) -> str:
    """The armored signature of exactly this text, with a key as `ssh-keygen -t ed25519` makes it.

    Raises ApprovalRefused when the key cannot be used.
    """
    key = _load(private_key, passphrase)
    digest = hashlib.sha512(text.encode()).digest()
    signed = SshsigWrapper(namespace=_NAMESPACE, hash_algo=_HASH, hash=digest).to_bytes()
    parts = (_public(key), _NAMESPACE, b"", _HASH, _pair(key.sign(signed)))
    return _armor(b"SSHSIG" + _VERSION + b"".join(_string(part) for part in parts))


def verify(text: str, signature: str, *, principal: str, keys: KeyFile, at: datetime) -> str:
    """The fingerprint of the key that signed exactly this text and counts for the principal then.

    Raises ApprovalRefused with what is wrong otherwise.
    """
    key = _parse(signature).public_key
    try:
        sshsig.check_signature(text, signature.strip(), SIGNATURE_NAMESPACE)
    except sshsig.InvalidSignature as wrong:
        raise ApprovalRefused(
            f"The signature of {principal!r} is not one of this text: the approval was changed "
            "after it was signed, or another text was; sign it again"
        ) from wrong
    keys.refuse_unless_valid(key, principal=principal, at=at)
    return fingerprint(key)


class Said(Protocol):
    """What a principal has said and may have signed: an approval, or a review."""

    @property
    def principal(self) -> str: ...
    @property
    def decided_at(self) -> datetime: ...
    @property
    def signed_text(self) -> str: ...
    @property
    def signature(self) -> str | None: ...


def verifier(keys: KeyFile, *, now: datetime) -> Callable[[Said], str]:
    """Checks a signature with a key that counted when it was given and still does.

    Both moments matter: a revoked key could otherwise sign on by naming an earlier hour.
    """

    def check(said: Said) -> str:
        text, signature = said.signed_text, said.signature or ""
        verify(text, signature, principal=said.principal, keys=keys, at=said.decided_at)
        return verify(text, signature, principal=said.principal, keys=keys, at=now)

    return check


def _load(private_key: bytes, passphrase: bytes | None) -> Ed25519PrivateKey:
    try:
        key = load_ssh_private_key(private_key, password=passphrase)
    except TypeError as wrong:
        asks = (
            "needs a passphrase; give it" if passphrase is None else "has no passphrase; give none"
        )
        raise ApprovalRefused(
            f"The private key {asks}, or sign with `ssh-keygen -Y sign`"
        ) from wrong
    except UnsupportedAlgorithm as wrong:
        raise ApprovalRefused(
            f"The private key cannot be opened here ({wrong}); sign with `ssh-keygen -Y sign`"
        ) from wrong
    except ValueError as wrong:
        raise ApprovalRefused(
            f"The private key cannot be read ({wrong}): it has to be one of OpenSSH, and its "
            "passphrase has to be right"
        ) from wrong
    if not isinstance(key, Ed25519PrivateKey):
        raise ApprovalRefused("Only Ed25519 keys sign approvals; make one: `ssh-keygen -t ed25519`")
    return key


def _parse(signature: str) -> SshsigSignature:
    found = _ARMORED.fullmatch(signature.strip())
    if found is None:
        raise ApprovalRefused("This is no SSH signature; make one with `ssh-keygen -Y sign`")
    try:
        raw = base64.b64decode("".join(found[1].split()), validate=True)
        parsed = SshsigSignature(raw)
    except (binascii.Error, ValueError, NotImplementedError) as wrong:
        raise ApprovalRefused(f"The SSH signature is damaged ({wrong}); sign again") from wrong
    if bytes(parsed) != raw:
        raise ApprovalRefused("The SSH signature holds more or less than a signature; sign again")
    _refuse_other_forms(parsed)
    return parsed


def _refuse_other_forms(parsed: SshsigSignature) -> None:
    if parsed.namespace != _NAMESPACE:
        made_for = parsed.namespace.decode(errors="replace")
        raise ApprovalRefused(
            f"The signature is for {made_for!r} and not for an approval; "
            f"sign with `ssh-keygen -Y sign -n {SIGNATURE_NAMESPACE}`"
        )
    is_ours = parsed.public_key == _pair(parsed.public_key[-32:])
    if not is_ours or parsed.signature != _pair(parsed.signature[-64:]):
        raise ApprovalRefused("Only Ed25519 keys sign approvals; make one: `ssh-keygen -t ed25519`")
    if parsed.hash_algo not in _HASHES:
        raise ApprovalRefused("The signature hashes with neither sha512 nor sha256; sign again")


def _public(key: Ed25519PrivateKey) -> bytes:
    return _pair(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))


def _pair(raw: bytes) -> bytes:
    return _string(KEY_TYPE.encode()) + _string(raw)


def _string(raw: bytes) -> bytes:
    return len(raw).to_bytes(4) + raw


def _armor(raw: bytes) -> str:
    lines = textwrap.wrap(base64.b64encode(raw).decode(), _LINE)
    return "\n".join((_BEGIN, *lines, _END, ""))
