"""The certificates that this machine trusts, as Java reads them.

A system's Java shares the system's certificates; one that came as a wheel brings its own list, and
knows nothing of a company's authority that pip, git and everything else here accept. So the wheel's
runtime is given the machine's list, and adds nothing to it.
"""

import hashlib
import ssl
import struct
from pathlib import Path

# Where distributions keep their bundle, if Python does not name one itself.
_USUAL_BUNDLES = (
    Path("/etc/ssl/certs/ca-certificates.crt"),
    Path("/etc/pki/tls/certs/ca-bundle.crt"),
    Path("/etc/ssl/cert.pem"),
)
_END = "-----END CERTIFICATE-----"
_BEGIN = "-----BEGIN CERTIFICATE-----"


def machine_trust_store() -> bytes | None:
    """A Java key store of the machine's bundle, or nothing where there is none."""
    named = ssl.get_default_verify_paths().cafile
    places = (Path(named), *_USUAL_BUNDLES) if named else _USUAL_BUNDLES
    bundle = next((place for place in places if place.is_file()), None)
    certificates = _certificates(bundle.read_text(errors="replace")) if bundle else ()
    return java_key_store(certificates) if certificates else None


def java_key_store(certificates: tuple[bytes, ...]) -> bytes:
    """Java's own format "JKS", version 2: trusted certificates only, nothing secret in it."""
    entries = b"".join(
        struct.pack(">I", 2)  # a trusted certificate
        + _text(f"machine-{number}")
        + struct.pack(">Q", 0)  # created: the same bundle gives the same bytes
        + _text("X.509")
        + struct.pack(">I", len(certificate))
        + certificate
        for number, certificate in enumerate(certificates)
    )
    content = struct.pack(">III", 0xFEEDFEED, 2, len(certificates)) + entries
    # The format's own checksum, under the password that every Java expects of such a list.
    salt = "changeit".encode("utf-16-be") + b"Mighty Aphrodite"
    return content + hashlib.sha1(salt + content, usedforsecurity=False).digest()


def _certificates(bundle: str) -> tuple[bytes, ...]:
    bodies = (part.partition(_END)[0] for part in bundle.split(_BEGIN)[1:])
    return tuple(ssl.PEM_cert_to_DER_cert(f"{_BEGIN}{body}{_END}") for body in bodies)


def _text(value: str) -> bytes:
    return struct.pack(">H", len(value)) + value.encode()
