"""A correction as an event: who follows a topic learns what whoever reads the table learns."""

import json

import pytest

from backfill_platform.corrections.events import correction_event, withdrawal_event

ROW = {
    "business_date": "2025-04-10",
    "correction_id": "9f" * 32,
    "correction_number": 2,
    "event_type": "CaseSlaDailyCorrected",
    "change": "CHANGED",
    "corrects_table": "silver.case_sla_daily",
    "corrects_key": '{"business_date": "2025-04-10", "case_id": "C-101"}',
    "corrects_run_id": "bf-20250501-case_sla_daily-2.4.1-001",
    "corrects_correction_id": "1c" * 32,
    "original_run_id": "bf-20250501-case_sla_daily-2.4.1-001",
    "old_values": '{"breach_at":"2025-04-10T00:00:00Z","is_breached":"true"}',
    "new_values": '{"breach_at":"2025-04-09T17:00:00Z"}',
    "reason": "TIMEZONE_BUG_RESTATEMENT",
    "produced_by_run_id": "bf-20260704-case_sla_daily_corrections-3.1.0-001",
    "transform_version": "case-sla-transform/3.1.0",
    "input_snapshot": "bronze.case_events@12,silver.case_sla_daily@7",
    "processing_mode": "BACKFILL",
    "reference_data_version": None,
}


def test_an_event_names_what_it_corrects_old_and_new_values_reason_and_run():
    assert json.loads(correction_event(ROW).value) == {
        "eventType": "CaseSlaDailyCorrected",
        "eventId": "9f" * 32,
        "table": "silver.case_sla_daily",
        "key": {"business_date": "2025-04-10", "case_id": "C-101"},
        "change": "CHANGED",
        "correctionNumber": 2,
        "correctsEventId": "1c" * 32,
        "correctsRunId": "bf-20250501-case_sla_daily-2.4.1-001",
        "oldValues": {"breach_at": "2025-04-10T00:00:00Z", "is_breached": "true"},
        "newValues": {"breach_at": "2025-04-09T17:00:00Z"},
        "reason": "TIMEZONE_BUG_RESTATEMENT",
        "producedByRunId": "bf-20260704-case_sla_daily_corrections-3.1.0-001",
    }


def test_an_event_says_in_its_headers_how_it_came_about():
    assert dict(correction_event(ROW).headers) == {
        "x-run-id": b"bf-20260704-case_sla_daily_corrections-3.1.0-001",
        "x-processing-mode": b"BACKFILL",
        "x-transform-version": b"case-sla-transform/3.1.0",
        "x-input-snapshot": b"bronze.case_events@12,silver.case_sla_daily@7",
    }


def test_corrections_of_one_row_have_one_key_in_canonical_text():
    later = ROW | {"correction_number": 3, "correction_id": "ab" * 32}
    key = b'{"business_date":"2025-04-10","case_id":"C-101"}'
    assert (correction_event(ROW).key, correction_event(later).key) == (key, key)


@pytest.mark.parametrize(
    ("missing", "field"), [("old_values", "oldValues"), ("new_values", "newValues")]
)
def test_a_row_that_was_not_there_has_no_values(missing, field):
    assert json.loads(correction_event(ROW | {missing: None}).value)[field] is None


def test_the_same_correction_gives_the_same_bytes():
    reordered = dict(reversed(ROW.items()))
    assert correction_event(reordered) == correction_event(ROW)


def test_a_correction_that_was_taken_back_is_withdrawn_by_its_event_id():
    told, withdrawn = (
        json.loads(event(ROW).value) for event in (correction_event, withdrawal_event)
    )
    assert withdrawn == told | {"eventType": "CaseSlaDailyCorrectedWithdrawn"}
