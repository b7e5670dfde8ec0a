"""Bundles on disk: durable, idempotent, safe between processes and after a crash."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from backfill_platform.domain.errors import EvidenceBroken, ManifestDrifted
from backfill_platform.domain.identity import RunId
from backfill_platform.evidence.bundle import EvidenceBundle
from backfill_platform_tests.racing import run_together

AT = datetime(2026, 7, 4, 12, 30, tzinfo=UTC)
RUN = RunId("bf-20260704-case_sla_daily-3.1.0-001")


@pytest.fixture
def bundle(tmp_path: Path) -> EvidenceBundle:
    return EvidenceBundle(tmp_path / "evidence", RUN)


def append(bundle: EvidenceBundle, key: str) -> None:
    bundle.append(kind="step", key=key, at=AT, body={"of": key})


def append_many(root: Path, name: str) -> None:
    bundle = EvidenceBundle(root, RUN)
    for number in range(20):
        append(bundle, f"{name}-{number}")


def keys(bundle: EvidenceBundle) -> list[str]:
    return [record.key for record in bundle.records()]


def test_records_stand_in_the_order_of_appending(bundle: EvidenceBundle) -> None:
    append(bundle, "first")
    append(bundle, "second")
    assert keys(bundle) == ["first", "second"]
    assert bundle.verify() is None


def test_a_key_that_is_known_keeps_its_first_record(bundle: EvidenceBundle) -> None:
    first = bundle.append(kind="step", key="k", at=AT, body={"try": 1})
    assert bundle.append(kind="step", key="k", at=AT, body={"try": 2}) == first
    assert bundle.records() == (first,)


def test_nothing_is_broken_where_nothing_is_written(bundle: EvidenceBundle) -> None:
    assert bundle.verify() is None
    assert bundle.records() == ()


def test_text_with_odd_line_separators_stays_one_record(bundle: EvidenceBundle) -> None:
    record = bundle.append(kind="step", key="k", at=AT, body={"text": "a\u2028b\x85c\r\nd"})
    assert bundle.records() == (record,)


def test_a_record_that_a_crash_cut_short_is_cut_off(bundle: EvidenceBundle) -> None:
    append(bundle, "whole")
    append(bundle, "torn")
    bundle.records_path.write_bytes(bundle.records_path.read_bytes()[:-30])
    append(bundle, "next")
    assert keys(bundle) == ["whole", "next"]
    assert bundle.verify() is None


def test_a_record_that_lacks_only_its_end_of_line_is_kept(bundle: EvidenceBundle) -> None:
    append(bundle, "whole")
    bundle.records_path.write_bytes(bundle.records_path.read_bytes()[:-1])
    append(bundle, "next")
    assert keys(bundle) == ["whole", "next"]


def test_tampering_is_found_and_nothing_is_added_to_it(bundle: EvidenceBundle) -> None:
    append(bundle, "first")
    append(bundle, "second")
    changed = bundle.records_path.read_text().replace('"of":"first"', '"of":"other"')
    bundle.records_path.write_text(changed)
    assert bundle.verify() == 1
    with pytest.raises(EvidenceBroken, match="line 1"):
        append(bundle, "third")
    assert bundle.records_path.read_text() == changed


def test_processes_that_append_together_make_one_chain(tmp_path: Path) -> None:
    run_together([partial(append_many, tmp_path, name) for name in "ab"])
    bundle = EvidenceBundle(tmp_path, RUN)
    expected = {f"{name}-{number}" for name in "ab" for number in range(20)}
    assert set(keys(bundle)) == expected
    assert bundle.verify() is None


def test_a_manifest_is_written_once_and_for_all(bundle: EvidenceBundle) -> None:
    bundle.write_manifest('{"a":1}')
    bundle.write_manifest('{"a":1}')
    with pytest.raises(ManifestDrifted, match=r"manifest\.json"):
        bundle.write_manifest('{"a":2}')
    assert bundle.manifest_path.read_text() == '{"a":1}'
    assert [path.name for path in bundle.folder.iterdir()] == ["manifest.json"]


def test_a_folder_is_named_after_run_ids_only(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no run id"):
        EvidenceBundle(tmp_path, RunId("../elsewhere"))
