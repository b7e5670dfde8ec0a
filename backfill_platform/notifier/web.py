"""Sends a message to an address on the web: as a document, or as Slack's incoming webhooks take it.

An address may be a secret in itself, so no error says more of it than its host. A redirect is no
delivery: what follows it asks again without the message.
"""

import json
from urllib.parse import urlsplit

import requests

from backfill_platform.domain.alert_channels import SlackChannel, WebhookChannel
from backfill_platform.domain.alerts import Notice
from backfill_platform.domain.errors import AlertUndelivered
from backfill_platform.notifier.wording import document, headline, lines, sign

PATIENCE_SECONDS = 5
DELIVERY_HEADER = "X-Alert-Delivery"


def post_document(channel: WebhookChannel, notice: Notice) -> None:
    _post(channel.url, document(notice), notice)


def post_text(channel: SlackChannel, notice: Notice) -> None:
    text = f"{sign(notice)} *{_escaped(headline(notice))}*\n{_escaped(lines(notice))}"
    _post(channel.url, {"text": text}, notice)


def _post(url: str, body: object, notice: Notice) -> None:
    host = _host(url)
    headers = {"Content-Type": "application/json", DELIVERY_HEADER: notice.delivery_id}
    try:
        # Only the status counts; a body that never ends would hold up whoever waits for it.
        with requests.post(
            url,
            data=json.dumps(body, ensure_ascii=False).encode(),
            headers=headers,
            timeout=PATIENCE_SECONDS,
            allow_redirects=False,
            stream=True,
        ) as answer:
            status = answer.status_code
    except (requests.RequestException, ValueError) as failure:
        # Without its cause, which names the whole address.
        raise AlertUndelivered(
            f"{host} could not be asked ({type(failure).__name__}); look whether it is there, and "
            "whether this machine may reach it"
        ) from None
    if not 200 <= status < 300:
        raise AlertUndelivered(
            f"{host} answered {status}; look whether the address is right and still in use"
        )


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or "the address"
    except ValueError:
        return "the address"


def _escaped(text: str) -> str:
    """Slack gives these three a meaning, and `<!channel>` wakes everybody."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
