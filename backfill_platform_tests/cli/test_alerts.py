"""`backfill alerts`: what is open, who was told, what did not arrive; does a channel work?"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from backfill_platform.domain.alert_channels import WebhookChannel
from backfill_platform.engine.alerts.delivering import deliver_alerts
from backfill_platform.engine.alerts.raising import raise_alerts
from backfill_platform.engine.platform import Platform
from backfill_platform.governance.alerting import Alerting, AlertRule
from backfill_platform_tests.cli.conftest import Answer, Call
from backfill_platform_tests.engine.alerts.reported import report_gaps
from backfill_platform_tests.notifier.web_receiver import web_receiver
from backfill_platform_tests.readings import BRONZE


def raise_gap(platform: Platform) -> None:
    report_gaps(platform, {"gap-1": "2025-01-03 is missing."})
    raise_alerts(platform)


def words(answer: Answer) -> str:
    return " ".join(answer.stdout.split())


@pytest.fixture
def dead(platform: Platform) -> Platform:
    """As the platform, with a receiver that is away."""
    channels = {"dead": WebhookChannel(url="http://127.0.0.1:1/")}
    rules = (AlertRule(name="all", channels=("dead",)),)
    return replace(platform, alerting=Alerting(channels=channels, rules=rules))


@pytest.fixture
def declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes the channels of the file that the verb reads."""

    def write(channels: str) -> None:
        path = tmp_path / "alerts.yaml"
        rule = "{name: rest, when: otherwise, tell: nobody}"
        path.write_text(f"channels: {channels}\nrules: [{rule}]\n")
        monkeypatch.setenv("BACKFILL_ALERTS", str(path))

    return write


def test_where_nothing_is_open_it_says_so(call: Call) -> None:
    answer = call("alerts")
    assert (answer.exit_code, answer.stdout) == (0, "No alert is open.\n")


def test_an_open_alert_is_shown_with_what_to_do_and_who_was_told(
    call: Call, platform: Platform
) -> None:
    raise_gap(platform)
    assert "told log (opened not yet)" in words(call("alerts"))
    deliver_alerts(platform)
    said = words(call("alerts"))
    assert "A gap in bronze.readings is not repaired OPEN WARNING" in said
    assert "2025-01-03 is missing. Not repaired by itself:" in said
    assert "told log (opened at " in said


def test_what_did_not_arrive_is_shown_with_its_reason(call: Call, dead: Platform) -> None:
    raise_gap(dead)
    deliver_alerts(dead)
    said = words(call("alerts"))
    assert "told dead (opened not delivered)" in said
    assert "Not delivered 1 message" in said
    assert (
        "dead: A gap in bronze.readings is not repaired (opened), 1 attempt, the next one" in said
    )
    assert "127.0.0.1 could not be asked (ConnectionError)" in said


def test_what_is_over_is_shown_only_when_asked_for(call: Call, platform: Platform) -> None:
    raise_gap(platform)
    report_gaps(platform, {})
    raise_alerts(platform)
    assert call("alerts").stdout == "No alert is open.\n"
    assert "RESOLVED WARNING" in words(call("alerts", "--all"))


def test_programs_get_alerts_with_their_deliveries(call: Call, dead: Platform) -> None:
    raise_gap(dead)
    deliver_alerts(dead)
    document = call("alerts", "--json").document
    (alert,) = document["alerts"]
    (delivery,) = alert["deliveries"]
    assert (alert["key"], alert["state"]) == (f"GAP_NOT_REPAIRABLE:{BRONZE}:gap-1", "OPEN")
    assert (delivery["channel"], delivery["event"], delivery["attempts"]) == ("dead", "OPENED", 1)
    assert [one["delivery_id"] for one in document["undelivered"]] == [delivery["delivery_id"]]


def test_a_channel_is_tried_with_a_message_about_nothing(call: Call, declare) -> None:
    with web_receiver() as web:
        declare(f"{{hook: {{type: webhook, url: '{web.url}'}}}}")
        answer = call("alerts", "--test", "hook")
    assert answer.exit_code == 0
    assert "hook took the message" in answer.stdout
    assert web.events == ["TESTED"]


def test_a_test_leaves_nothing_in_the_ledger(call: Call, platform: Platform, home: Path) -> None:
    call("alerts", "--test", "log")
    assert json.loads((home / "alerts.jsonl").read_text())["event"] == "TESTED"
    assert platform.ledger.alerts.open_alerts() == platform.ledger.alerts.undelivered() == ()


def test_a_channel_that_does_not_work_says_why_and_may_be_tried_again(call: Call, declare) -> None:
    declare("{hook: {type: webhook, url: 'http://127.0.0.1:1/'}}")
    answer = call("alerts", "--test", "hook")
    assert answer.exit_code == 75
    assert answer.stderr.startswith("alert-undelivered: 127.0.0.1 could not be asked")


def test_a_secret_that_is_not_set_is_a_refusal(call: Call, declare) -> None:
    declare("{hook: {type: slack, url: '${BACKFILL_TEST_NOT_SET}'}}")
    answer = call("alerts", "--test", "hook")
    assert answer.exit_code == 1
    assert "BACKFILL_TEST_NOT_SET is not set where this runs" in answer.stderr


def test_a_channel_that_is_not_there_is_told_its_like(call: Call) -> None:
    answer = call("alerts", "--test", "lag")
    assert answer.exit_code == 2
    assert "did you mean log" in answer.stderr
