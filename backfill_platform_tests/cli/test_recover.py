"""`backfill recover`: what it would do, what it did, and that a run is well."""

from contextlib import suppress

import pytest

from backfill_platform.cli import main
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish import publishing
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.records import bundle
from backfill_platform_tests.cli.conftest import Call
from backfill_platform_tests.engine.by_hand import stage_by_hand


@pytest.fixture
def crashed(platform: Platform, planned: Manifest, monkeypatch: pytest.MonkeyPatch) -> Manifest:
    """It landed, and nobody has recorded it."""
    days = planned.target.partitions.span
    stage_by_hand(platform, planned, dict.fromkeys(days, ("a",)))

    def lost(*_given: object) -> None:
        raise ConnectionError("the ledger is gone")

    with monkeypatch.context() as patched, suppress(ConnectionError):
        patched.setattr(publishing, "record_landed", lost)
        publish_chunk(platform, planned.run_id, days)
    return planned


def state(platform: Platform, manifest: Manifest) -> RunState:
    return platform.ledger.run(manifest.run_id).state


def test_a_dry_run_tells_what_would_be_done_and_does_nothing(
    call: Call, platform: Platform, crashed: Manifest
) -> None:
    answer = call("recover", "--dry-run")
    assert answer.exit_code == 0
    assert "landed in version 1: record the fact" in " ".join(answer.stdout.split())
    assert state(platform, crashed) is RunState.PUBLISHING


def test_it_finishes_what_landed_and_says_what_it_did(
    call: Call, platform: Platform, crashed: Manifest
) -> None:
    answer = call("recover", "--confirm")
    assert answer.exit_code == 0
    assert f"{crashed.run_id} is PUBLISHED" in answer.stdout
    assert "0 of 1 run are well." in answer.stdout
    assert state(platform, crashed) is RunState.PUBLISHED


def test_a_run_for_which_nothing_has_to_be_done_is_well(call: Call, crashed: Manifest) -> None:
    call("recover", crashed.run_id, "--confirm")
    answer = call("recover", crashed.run_id, "--confirm")
    assert answer.stdout.strip() == f"{crashed.run_id} is well: PUBLISHED, nothing to recover."


def test_programs_get_each_step_with_its_name(call: Call, crashed: Manifest) -> None:
    (document,) = call("recover", crashed.run_id, "--confirm", "--json").document
    assert (document["run_id"], document["state"]) == (crashed.run_id, "PUBLISHED")
    assert document["remedies"][0]["remedy"] == "RecordLanding"
    assert call("recover", "--confirm", "--json").document == []


def test_a_script_has_to_say_whether_to_show_or_to_act(call: Call, crashed: Manifest) -> None:
    assert call("recover").exit_code == 2


def test_what_cannot_be_recovered_is_told_and_is_a_refusal(
    call: Call, platform: Platform, planned: Manifest
) -> None:
    bundle(platform, planned.run_id).records_path.write_text("nonsense\n")
    answer = call("recover", "--confirm")
    assert answer.exit_code == main.EXIT_REFUSED
    assert "not recovered: evidence-broken" in answer.stdout


def test_an_unknown_run_is_told_its_like(call: Call, planned: Manifest) -> None:
    answer = call("recover", f"{planned.run_id}x", "--dry-run")
    assert answer.exit_code == main.EXIT_REFUSED
    assert f"did you mean {planned.run_id}" in answer.stderr
