"""`alerts.yaml`: what it says becomes a value, and a mistake names its line and field."""

import pytest

from backfill_platform.domain.alert_channels import (
    CommandChannel,
    EmailChannel,
    FileChannel,
    SlackChannel,
    WebhookChannel,
    with_secrets,
)
from backfill_platform.domain.alerts import AlertKind, AlertSeverity
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.governance.alert_file import read_alerting
from backfill_platform.governance.alerting import AlertRule, AlertThresholds
from backfill_platform.settings import PROJECT

TEXT = """\
channels:
  log: {type: file, path: alerts.jsonl}
  chat:
    type: slack
    url: "${BACKFILL_ALERT_SLACK_URL}"
  hook: {type: webhook, url: "https://example.org/${BACKFILL_TOKEN}/in"}
  pager: {type: command, command: [page, --team, data]}
  mail:
    type: email
    host: smtp.example.org
    from: backfill@example.org
    to: [data@example.org]
    password: "${BACKFILL_MAIL_PASSWORD}"
rules:
  - name: pages
    when: {kinds: [RUN_FAILED], severities: [CRITICAL], tables: [gold.*]}
    tell: [pager, chat]
    repeat_hours: 4
  - name: rest
    when: otherwise
    tell: nobody
thresholds: {approval_waiting_hours: 8}
"""


def refusal(old: str, new: str) -> str:
    assert old in TEXT
    with pytest.raises(DeclarationInvalid) as refused:
        read_alerting(TEXT.replace(old, new), origin="alerts.yaml")
    return str(refused.value)


def test_channels_are_read_as_their_type_says() -> None:
    assert read_alerting(TEXT, origin="alerts.yaml").channels == {
        "log": FileChannel(path="alerts.jsonl"),
        "chat": SlackChannel(url="${BACKFILL_ALERT_SLACK_URL}"),
        "hook": WebhookChannel(url="https://example.org/${BACKFILL_TOKEN}/in"),
        "pager": CommandChannel(command=("page", "--team", "data")),
        "mail": EmailChannel(
            host="smtp.example.org",
            port=587,
            sender="backfill@example.org",
            recipients=("data@example.org",),
            starttls=True,
            password="${BACKFILL_MAIL_PASSWORD}",
        ),
    }


def test_rules_and_thresholds_are_read() -> None:
    alerting = read_alerting(TEXT, origin="alerts.yaml")
    assert alerting.rules == (
        AlertRule(
            name="pages",
            kinds=(AlertKind.RUN_FAILED,),
            severities=(AlertSeverity.CRITICAL,),
            tables=("gold.*",),
            channels=("pager", "chat"),
            repeat_hours=4,
        ),
        AlertRule(name="rest"),
    )
    assert alerting.thresholds == AlertThresholds(approval_waiting_hours=8)


def test_the_shipped_file_needs_no_secret() -> None:
    path = PROJECT / "alerts.yaml"
    alerting = read_alerting(path.read_text(), origin=str(path))
    assert alerting.channels == {"log": FileChannel(path="alerts.jsonl")}
    assert all(rule.channels == ("log",) for rule in alerting.rules)


def test_a_secret_is_completed_only_when_it_is_asked_for() -> None:
    hook = read_alerting(TEXT, origin="alerts.yaml").channels["hook"]
    assert with_secrets(hook, lambda name: name.lower()) == WebhookChannel(
        url="https://example.org/backfill_token/in"
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "tell: [pager, chat]",
            "tell: [pager, cat]",
            "alerts.yaml, line 17: rule number 1: tell.1: there is no channel 'cat'; add it, or "
            "correct it",
        ),
        (
            "when: otherwise",
            "when: {kinds: [NOT_FRESH]}",
            "alerts.yaml, line 20: rule number 2: when: the last rule has to match everything; say "
            "`when: otherwise`",
        ),
        (
            "when: {kinds: [RUN_FAILED], severities: [CRITICAL], tables: [gold.*]}",
            "when: otherwise",
            "alerts.yaml, line 19: rule number 2: name: no alert gets past the rule above it; move "
            "it up, or remove it",
        ),
        (
            "name: rest",
            "name: pages",
            "alerts.yaml, line 19: rule number 2: name: 'pages' is the name of another rule; give "
            "it its own",
        ),
        (
            "tell: nobody",
            "tell: []",
            "alerts.yaml, line 21: rule number 2: tell: is empty; say `nobody` if that is what is "
            "meant (it is [])",
        ),
        (
            "${BACKFILL_ALERT_SLACK_URL}",
            "${SLACK_URL}",
            "alerts.yaml, line 5: channel 'chat': url: a variable is named BACKFILL_… in capitals, "
            "and 'SLACK_URL' is not (it is '${SLACK_URL}')",
        ),
        (
            "${BACKFILL_MAIL_PASSWORD}",
            "hunter2",
            "alerts.yaml, line 13: channel 'mail': password: is a secret; write the variable that "
            "holds it, ${BACKFILL_…}",
        ),
        (
            "${BACKFILL_TOKEN}/in",
            "${BACKFILL_TOKEN",
            "alerts.yaml, line 6: channel 'hook': url: a variable begins with ${ and ends with } "
            "(it is 'https://example.org/${BACKFILL_TOKEN')",
        ),
        (
            "https://example.org",
            "ftp://example.org",
            "alerts.yaml, line 6: channel 'hook': url: has to begin with https:// or http://, or "
            "be a variable (it is 'ftp://example.org/${BACKFILL_TOKEN}/in')",
        ),
        (
            "--team, data",
            '--team, "${BACKFILL_TEAM}"',
            "alerts.yaml, line 7: channel 'pager': command.2: a command's words are seen by "
            "everybody; it reads the variable itself (it is '${BACKFILL_TEAM}')",
        ),
        (
            "path: alerts.jsonl",
            "path: ../alerts.jsonl",
            "alerts.yaml, line 2: channel 'log': path: has to name a file below the platform's "
            "home (it is '../alerts.jsonl')",
        ),
        (
            "type: slack",
            "type: teams",
            "alerts.yaml, line 3: channels.chat: Input tag 'teams' found using 'type' does not "
            "match any of the expected tags: 'file', 'command', 'webhook', 'slack', 'email' (it is "
            "{'type': 'teams', 'url': '${BACKFILL_ALERT_SLACK_URL}'})",
        ),
        (
            "repeat_hours: 4",
            "repeat_hours: 0",
            "alerts.yaml, line 18: rule number 1: repeat_hours: Input should be greater than or "
            "equal to 1 (it is 0)",
        ),
        (
            "approval_waiting_hours: 8",
            "freshness_hours: 8",
            "alerts.yaml, line 22: thresholds.freshness_hours: is not known here; correct it, or "
            "remove it",
        ),
    ],
)
def test_a_mistake_is_one_sentence_that_names_the_place(old, new, expected) -> None:
    assert refusal(old, new) == expected
