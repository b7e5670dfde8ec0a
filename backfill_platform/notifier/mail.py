"""Sends a message by a mail server. Its Message-ID stays when it is sent again."""

import smtplib
import ssl
from email.message import EmailMessage
from email.utils import format_datetime

from backfill_platform.domain.alert_channels import EmailChannel
from backfill_platform.domain.alerts import Notice
from backfill_platform.domain.errors import AlertUndelivered
from backfill_platform.notifier.wording import headline, lines

PATIENCE_SECONDS = 5


def send_mail(channel: EmailChannel, notice: Notice) -> None:
    server = f"{channel.host}:{channel.port}"
    try:
        with smtplib.SMTP(channel.host, channel.port, timeout=PATIENCE_SECONDS) as smtp:
            if channel.starttls:
                smtp.starttls(context=ssl.create_default_context())
            if channel.username:
                smtp.login(channel.username, channel.password)
            # Where it refuses some of the recipients the others have it, and would have it twice.
            smtp.send_message(_message(channel, notice))
    except (OSError, ValueError, smtplib.SMTPException) as failure:
        raise AlertUndelivered(
            f"The mail server {server} did not take the message ({_said(failure)}); look whether "
            "it is there, and whether it takes mail from this sender"
        ) from failure


def _message(channel: EmailChannel, notice: Notice) -> EmailMessage:
    domain = channel.sender.rpartition("@")[2]
    message = EmailMessage()
    message["Subject"] = headline(notice)
    message["From"] = channel.sender
    message["To"] = ", ".join(channel.recipients)
    message["Date"] = format_datetime(notice.at)
    message["Message-ID"] = f"<{notice.delivery_id}@{domain}>"
    # Programs of mail show what is about one alert as one conversation.
    message["References"] = f"<{notice.conversation_id}@{domain}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(f"{lines(notice)}\n")
    return message


def _said(failure: Exception) -> str:
    """A server's own words name nothing that it was told in secret."""
    if isinstance(failure, smtplib.SMTPResponseException):
        return f"it answered {failure.smtp_code}"
    return type(failure).__name__
