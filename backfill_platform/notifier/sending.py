"""Sends one message by one channel, once: `AlertUndelivered` says why it did not arrive.

When it is tried again is the engine's business; what is in it stands in `wording`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import assert_never

from backfill_platform.domain.alert_channels import (
    AlertChannel,
    CommandChannel,
    EmailChannel,
    FileChannel,
    SlackChannel,
    WebhookChannel,
    with_secrets,
)
from backfill_platform.domain.alerts import Notice
from backfill_platform.notifier.local import append_line, run_command
from backfill_platform.notifier.mail import send_mail
from backfill_platform.notifier.web import post_document, post_text


def send(
    channel: AlertChannel, notice: Notice, *, find_secret: Callable[[str], str], home: Path
) -> None:
    match with_secrets(channel, find_secret):
        case FileChannel() as file:
            append_line(file, notice, home=home)
        case CommandChannel() as command:
            run_command(command, notice)
        case WebhookChannel() as webhook:
            post_document(webhook, notice)
        case SlackChannel() as slack:
            post_text(slack, notice)
        case EmailChannel() as mail:
            send_mail(mail, notice)
        case unknown:
            assert_never(unknown)
