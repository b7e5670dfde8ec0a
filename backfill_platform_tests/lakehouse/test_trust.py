"""The wheel's Java trusts what the machine trusts: Java itself reads the list back."""

import base64
import ssl
import subprocess
from pathlib import Path

import pytest

from backfill_platform.lakehouse.java import find_java
from backfill_platform.lakehouse.trust import java_key_store, machine_trust_store


@pytest.fixture(scope="module")
def certificate() -> bytes:
    """Any real one: what the wheel's runtime itself trusts first."""
    keytool = find_java(java_home="", search_path="").executable.with_name("keytool")
    listed = subprocess.run(
        [keytool, "-list", "-rfc", "-cacerts"], capture_output=True, text=True, check=True
    ).stdout
    body = listed.partition("-----BEGIN CERTIFICATE-----")[2].partition("-----END")[0]
    return base64.b64decode(body)


def test_java_reads_back_what_was_written(tmp_path: Path, certificate: bytes) -> None:
    store = tmp_path / "cacerts"
    store.write_bytes(java_key_store((certificate, certificate)))
    keytool = find_java(java_home="", search_path="").executable.with_name("keytool")

    listed = subprocess.run(
        [keytool, "-list", "-keystore", store, "-storepass", "changeit"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip

    assert "Your keystore contains 2 entries" in listed


def test_the_bundle_that_the_machine_names_is_taken(
    tmp_path: Path, certificate: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_text(f"# a company's own\n{ssl.DER_cert_to_PEM_cert(certificate)}")
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))

    assert machine_trust_store() == java_key_store((certificate,))
