"""Messages arrive at real receivers, and what does not arrive says why without telling a secret."""

import json
import socket
import ssl
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from backfill_platform.domain.alert_channels import (
    AlertChannel,
    CommandChannel,
    EmailChannel,
    FileChannel,
    SlackChannel,
    WebhookChannel,
)
from backfill_platform.domain.alerts import AlertEvent, Notice
from backfill_platform.domain.errors import AlertUndelivered
from backfill_platform.notifier import local
from backfill_platform.notifier import web as web_channel
from backfill_platform.notifier.sending import send
from backfill_platform_tests.notifier.mail_receiver import MailReceiver, mail_receiver
from backfill_platform_tests.notifier.samples import ALERT, no_secret, notice
from backfill_platform_tests.notifier.web_receiver import WebReceiver, web_receiver

COUNT = "import sys, json; said = json.load(sys.stdin); open(sys.argv[1], 'w').write(said['key'])"


@pytest.fixture
def web() -> Iterator[WebReceiver]:
    with web_receiver() as receiver:
        yield receiver


@pytest.fixture
def mail() -> Iterator[MailReceiver]:
    with mail_receiver() as receiver:
        yield receiver


def mailbox(port: int, **changed) -> EmailChannel:
    given = {
        "host": "127.0.0.1",
        "port": port,
        "sender": "backfill@example.org",
        "recipients": ("ana@example.org", "bo@example.org"),
        "starttls": False,
    }
    return EmailChannel(**(given | changed))


def deliver(channel: AlertChannel, said: Notice | None = None, home: Path = Path()) -> None:
    send(channel, said or notice(), find_secret=no_secret, home=home)


def refusal(channel: AlertChannel) -> str:
    with pytest.raises(AlertUndelivered) as refused:
        deliver(channel)
    return str(refused.value)


def test_a_webhook_gets_the_whole_message_as_a_document(web: WebReceiver) -> None:
    deliver(WebhookChannel(url=web.url))
    assert web.bodies == [
        {
            "delivery_id": notice().delivery_id,
            "event": "OPENED",
            "at": "2026-07-04T09:00:00+00:00",
            "key": "RUN_FAILED:bf-1",
            "opened_at": "2026-07-04T09:00:00+00:00",
            "kind": "RUN_FAILED",
            "subject": "bf-1",
            "table": "silver.totals",
            "severity": "CRITICAL",
            "title": "Run bf-1 failed",
            "message": ALERT.message,
        }
    ]


def test_a_message_carries_its_id_where_any_receiver_can_see_it(web: WebReceiver) -> None:
    deliver(WebhookChannel(url=web.url))
    deliver(SlackChannel(url=web.url))
    assert web.ids == [notice().delivery_id] * 2


def test_slack_gets_a_text_in_which_nothing_has_a_meaning_of_its_own(web: WebReceiver) -> None:
    deliver(SlackChannel(url=web.url))
    assert web.bodies == [
        {
            "text": "🔴 *Run bf-1 failed*\n"
            "The disk is full: &lt;80 % &amp; more&gt;. `backfill retry bf-1` goes on.\n"
            "RUN_FAILED · silver.totals · since 2026-07-04 09:00 UTC"
        }
    ]


def test_an_end_looks_like_one(web: WebReceiver) -> None:
    deliver(SlackChannel(url=web.url), notice(event=AlertEvent.RESOLVED))
    assert web.bodies[0]["text"].startswith("🟢 *Resolved: Run bf-1 failed*")


def test_a_secret_in_an_address_is_looked_up_when_it_is_needed(web: WebReceiver) -> None:
    channel = WebhookChannel(url="${BACKFILL_ALERT_HOOK}")
    found = {"BACKFILL_ALERT_HOOK": web.url}
    send(channel, notice(), find_secret=found.__getitem__, home=Path())
    assert len(web.received) == 1


@pytest.mark.parametrize("status", [301, 404, 500, 503])
def test_whatever_is_no_success_is_no_delivery(status: int) -> None:
    with web_receiver([status]) as web:
        assert refusal(WebhookChannel(url=web.url)).startswith(f"127.0.0.1 answered {status};")
        assert len(web.received) == 1


def test_an_address_that_nobody_answers_is_not_told_to_anybody(web: WebReceiver) -> None:
    said = refusal(WebhookChannel(url="http://127.0.0.1:1/services/hidden-token"))
    assert said.startswith("127.0.0.1 could not be asked (ConnectionError);")
    assert "hidden" not in said


def test_a_receiver_that_never_answers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_channel, "PATIENCE_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = refusal(WebhookChannel(url=f"http://127.0.0.1:{silent.getsockname()[1]}/"))
    assert "could not be asked (ReadTimeout)" in said


@pytest.mark.parametrize("url", ["http://", "http://[::1", "nonsense://x"])
def test_an_address_that_is_none_is_refused_like_one_that_is_away(url: str) -> None:
    assert "could not be asked" in refusal(WebhookChannel(url=url))


def test_a_mail_says_what_happened_and_to_whom(mail: MailReceiver) -> None:
    deliver(mailbox(mail.port))
    (message,) = mail.messages
    assert (message["Subject"], message["To"]) == (ALERT.title, "ana@example.org, bo@example.org")
    assert mail.recipients == ["ana@example.org", "bo@example.org"]
    body = message.get_payload(decode=True)
    assert isinstance(body, bytes)
    assert ALERT.message in body.decode()


def test_a_mail_that_is_sent_again_has_the_same_id(mail: MailReceiver) -> None:
    deliver(mailbox(mail.port))
    deliver(mailbox(mail.port))
    ids = {message["Message-ID"] for message in mail.messages}
    assert ids == {f"<{notice().delivery_id}@example.org>"}


def test_all_mails_about_an_alert_are_one_conversation(mail: MailReceiver) -> None:
    deliver(mailbox(mail.port))
    deliver(mailbox(mail.port), notice(event=AlertEvent.RESOLVED))
    assert len({message["Message-ID"] for message in mail.messages}) == 2
    assert len({message["References"] for message in mail.messages}) == 1


def test_a_title_of_two_lines_adds_no_header(mail: MailReceiver) -> None:
    titled = replace(ALERT, title="Run\r\nBcc: eve@example.org")
    deliver(mailbox(mail.port), notice(alert=titled))
    assert mail.messages[0]["Subject"] == "Run Bcc: eve@example.org"
    assert mail.messages[0]["Bcc"] is None


def test_who_is_refused_takes_the_mail_from_nobody_else() -> None:
    with mail_receiver(refused="bo@example.org") as mail:
        deliver(mailbox(mail.port))
    assert (mail.recipients, len(mail.messages)) == (["ana@example.org"], 1)


def test_a_mail_that_nobody_takes_is_not_delivered() -> None:
    with mail_receiver(refused="@example.org") as mail:
        said = refusal(mailbox(mail.port))
    assert "did not take the message (SMTPRecipientsRefused)" in said


def test_a_mail_server_that_is_away_is_named() -> None:
    assert refusal(mailbox(1)).startswith("The mail server 127.0.0.1:1 did not take the message")


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, ssl.SSLContext]:
    """Of 127.0.0.1, signed by itself; and a server's side with it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime(2020, 1, 1, tzinfo=UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=36_500))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path, private = tmp_path / "certificate.pem", tmp_path / "key.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, private)
    return path, context


def test_a_mail_is_encrypted_before_anybody_says_a_password(
    certificate: tuple[Path, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    with mail_receiver(tls=certificate[1]) as mail:
        deliver(mailbox(mail.port, starttls=True, username="backfill", password="hunter2"))
    assert mail.spoken.index("STARTTLS") < mail.spoken.index("AUTH")
    assert len(mail.messages) == 1


def test_a_mail_server_that_nobody_vouches_for_hears_no_password(
    certificate: tuple[Path, ssl.SSLContext],
) -> None:
    with mail_receiver(tls=certificate[1]) as mail:
        said = refusal(mailbox(mail.port, starttls=True, username="b", password="hunter2"))
    assert "SSLCertVerificationError" in said
    assert "AUTH" not in mail.spoken


def test_a_program_gets_the_message_on_its_standard_input(tmp_path: Path) -> None:
    told = tmp_path / "told"
    deliver(CommandChannel(command=(sys.executable, "-c", COUNT, str(told))))
    assert told.read_text() == ALERT.key


def test_no_shell_reads_the_words_of_a_command(tmp_path: Path) -> None:
    deliver(CommandChannel(command=(sys.executable, "-c", COUNT, f"{tmp_path}/$(echo a); b")))
    assert [path.name for path in tmp_path.iterdir()] == ["$(echo a); b"]


def test_a_program_that_fails_says_why() -> None:
    said = refusal(CommandChannel(command=(sys.executable, "-c", "raise SystemExit('no pager')")))
    assert f"{sys.executable} ended with exit code 1 (no pager);" in said


def test_a_program_that_does_not_come_back_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "PATIENCE_SECONDS", 0.2)
    waits = (sys.executable, "-c", "import threading; threading.Event().wait()")
    assert "was ended after 0.2 seconds" in refusal(CommandChannel(command=waits))


def test_a_program_that_is_not_there_is_named() -> None:
    said = refusal(CommandChannel(command=("/nowhere/page",)))
    assert said.startswith("/nowhere/page could not be started (No such file or directory)")


def test_a_program_that_reads_nothing_has_been_told_all_the_same() -> None:
    deliver(CommandChannel(command=("true",)))


def test_a_file_gets_one_line_a_message(tmp_path: Path) -> None:
    channel = FileChannel(path="told/alerts.jsonl")
    deliver(channel, notice(), tmp_path)
    deliver(channel, notice(event=AlertEvent.RESOLVED), tmp_path)
    lines = (tmp_path / "told" / "alerts.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["OPENED", "RESOLVED"]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "alerts.jsonl").mkdir()
    with pytest.raises(AlertUndelivered, match=r"alerts\.jsonl could not be written"):
        deliver(FileChannel(path="alerts.jsonl"), home=tmp_path)
