"""The words of an enforcement case: what can happen to it, what it can be, where it is heard.

The order of `EVENT_TYPES` decides which of two events at one instant comes first. Time zones and
working days belong to the calendar, which is versioned; these words are not.
"""

from enum import StrEnum


class EventType(StrEnum):
    OPENED = "opened"
    EVIDENCE_REQUESTED = "evidence_requested"  # pauses the clock
    EVIDENCE_RECEIVED = "evidence_received"  # ends the pause
    ESCALATED = "escalated"  # grants extra days, once
    DECISION_EFFECTIVE = "decision_effective"  # stops the clock
    DECISION_AMENDED = "decision_amended"  # moves the instant from which the decision has effect
    REOPENED = "reopened"  # lets the clock run again
    CLOSED = "closed"  # ends the case


class CaseState(StrEnum):
    OPEN = "OPEN"
    PAUSED = "PAUSED"
    ESCALATED = "ESCALATED"
    DECIDED = "DECIDED"
    CLOSED = "CLOSED"


class Operation(StrEnum):
    UPSERT = "u"
    DELETE = "d"  # a tombstone: the event is retracted from this source version on


EVENT_TYPES = tuple(EventType)
EVENT_RANK = {event_type: rank for rank, event_type in enumerate(EventType)}

CASE_CLASSES = ("consumer_complaint", "licensing", "market_conduct", "anti_money_laundering")

JURISDICTIONS = (
    "AU-NS",
    "BR-SP",
    "DE-BE",
    "EG-CA",
    "GB-LN",
    "ID-JK",
    "IN-MH",
    "JP-TK",
    "NZ-AK",
    "SA-RY",
    "US-CA",
    "US-NY",
)
