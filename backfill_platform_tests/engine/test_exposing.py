"""A run that was led by hand, as Prometheus hears of it."""

import urllib.request
from collections.abc import Mapping
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.errors import SettingsInvalid
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.look.exposing import read_exposition, served, write_exposition
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.readings import BRONZE, week

DAYS = week(days=3)


@pytest.fixture
def done(platform: Platform, intent) -> Manifest:
    planned = plan_run(platform, intent(BRONZE, DAYS, "first"))
    run_by_hand(platform, planned, dict.fromkeys(DAYS, ("a", "b")))
    return planned


def values(text: str) -> Mapping[str, float]:
    return {
        one.name: one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def test_what_prometheus_reads_is_what_the_ledger_says(platform: Platform, done: Manifest) -> None:
    said = values(read_exposition(platform.ledger, utc_now))
    newest = platform.ledger.newest_accepted(BRONZE)
    assert newest is not None
    end = DayRange.of_day(newest.day).end_exclusive
    assert said["backfill_output_records_total"] == 6
    assert said["backfill_accepted_partitions"] == len(DAYS)
    assert said["backfill_accepted_up_to_timestamp_seconds"] == (
        (end.toordinal() - 719_163) * 86_400
    )
    assert said["backfill_publish_duration_seconds_count"] == 1
    assert said["backfill_runs"] == 1


def test_no_run_is_a_label(platform: Platform, done: Manifest) -> None:
    assert done.run_id not in read_exposition(platform.ledger, utc_now)


def test_a_file_of_metrics_is_replaced_whole(
    platform: Platform, done: Manifest, tmp_path: Path
) -> None:
    file = tmp_path / "metrics" / "backfill.prom"
    write_exposition(platform.ledger, utc_now, file)
    write_exposition(platform.ledger, utc_now, file)
    assert [one.name for one in file.parent.iterdir()] == ["backfill.prom"]
    assert values(file.read_text())["backfill_output_records_total"] == 6


def test_each_scrape_reads_the_ledger_anew(platform: Platform, intent) -> None:
    with served(platform.ledger, utc_now, host="127.0.0.1", port=0) as port:
        before = scrape(port)
        plan_run(platform, intent(BRONZE, DAYS, "meanwhile"))
        after = scrape(port)
    assert ("backfill_runs" in before, after["backfill_runs"]) == (False, 1)


def test_a_port_that_is_taken_is_refused_with_what_to_do(platform: Platform) -> None:
    with (
        served(platform.ledger, utc_now, host="127.0.0.1", port=0) as port,
        pytest.raises(SettingsInvalid, match="name another port"),
        served(platform.ledger, utc_now, host="127.0.0.1", port=port),
    ):
        pass


def scrape(port: int) -> Mapping[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        return values(answer.read().decode())
