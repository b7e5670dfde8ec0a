"""The rule itself: how a case's events, taken in order, move its deadline and its clock.

    opened              the deadline is the class's number of business days away
    evidence_requested  pauses the clock, evidence_received lets it run again
    escalated           grants the extra days, once
    decision_effective  stops the clock at its effective instant
    decision_amended    moves that instant
    reopened            lets it run again; the time since the effective decision was a pause
    closed              ends the case; what is dated later is not looked at

A deadline that has passed stays passed: a pause or an escalation that begins after it moves
nothing, so no case becomes timely again because somebody asked for evidence too late.

Written as SQL over `clock`, the state so far, and `event`, the next event in order.
"""

from backfill_platform.enforcement.lifecycle import EVENT_TYPES, EventType

_STATE = {
    "opened_at": "bigint",
    "case_class": "int",
    "deadline": "int",  # the ordinal of the due date
    "extra": "int",
    "evidence_at": "bigint",  # since when evidence is awaited
    "evidence_ordinal": "int",
    "decided_at": "bigint",
    "decided_ordinal": "int",
    "pause_end_at": "bigint",  # a later pause never reaches back behind the end of the last one
    "pause_end_ordinal": "int",
    "paused_micros": "bigint",
    "paused_days": "int",
    "escalated": "boolean",
    "closed_at": "bigint",
}


def run_clock(events: str) -> str:
    """Folds a case's valid events, in order, into its state; a null opening says: no case."""
    return f"aggregate({events}, {_AT_FIRST}, (clock, event) -> CASE {_RULES} ELSE clock END)"


def _with(**changes: str) -> str:
    fields = (
        f"cast({changes[name]} AS {kind}) AS {name}"
        if name in changes
        else f"clock.{name} AS {name}"
        for name, kind in _STATE.items()
    )
    return f"struct({', '.join(fields)})"


def _is(event_type: EventType) -> str:
    return f"event.rank = {EVENT_TYPES.index(event_type)}"


_AWAITS_EVIDENCE = "clock.evidence_at IS NOT NULL"
_IS_DECIDED = "clock.decided_at IS NOT NULL"
_IS_IN_TIME = "event.ordinal < clock.deadline"

_OPEN = _with(
    opened_at="event.at",
    case_class="event.case_class",
    deadline="event.effect_ordinal",
    extra="event.extra",
)

_PAUSE = _with(evidence_at="event.at", evidence_ordinal="event.ordinal")

_EVIDENCE_PAUSE_ENDS = {
    "evidence_at": "NULL",
    "evidence_ordinal": "NULL",
    "pause_end_at": "event.at",
    "pause_end_ordinal": "event.ordinal",
    "paused_micros": "clock.paused_micros + event.at - clock.evidence_at",
    "paused_days": "clock.paused_days + event.ordinal - clock.evidence_ordinal",
    "deadline": "clock.deadline + event.ordinal - clock.evidence_ordinal",
}

# While paused or decided the clock stands where it stopped, however late the escalation comes.
_READING = "coalesce(clock.evidence_ordinal, least(clock.decided_ordinal, event.ordinal))"
_ESCALATE = _with(
    escalated="true",
    deadline=f"clock.deadline + if({_READING} < clock.deadline, clock.extra, 0)",
)

_DECISION = {"decided_at": "event.effect_at", "decided_ordinal": "event.effect_ordinal"}

_DECISION_ENDS = {
    "decided_at": "NULL",
    "decided_ordinal": "NULL",
    "pause_end_at": "event.at",
    "pause_end_ordinal": "event.ordinal",
}
_SINCE_AT = "greatest(clock.decided_at, clock.pause_end_at)"
_SINCE_ORDINAL = "greatest(clock.decided_ordinal, clock.pause_end_ordinal)"
_WAS_PAUSE = f"{_SINCE_AT} < event.at AND {_SINCE_ORDINAL} < clock.deadline"
_REOPEN_AFTER_PAUSE = _with(
    **_DECISION_ENDS,
    paused_micros=f"clock.paused_micros + event.at - {_SINCE_AT}",
    paused_days=f"clock.paused_days + event.ordinal - {_SINCE_ORDINAL}",
    deadline=f"clock.deadline + event.ordinal - {_SINCE_ORDINAL}",
)

_RULES = f"""
    WHEN clock.closed_at IS NOT NULL THEN clock
    WHEN clock.opened_at IS NULL THEN CASE WHEN {_is(EventType.OPENED)} THEN {_OPEN} ELSE clock END
    WHEN {_is(EventType.EVIDENCE_REQUESTED)} THEN
      CASE WHEN {_AWAITS_EVIDENCE} OR {_IS_DECIDED} THEN clock
      WHEN {_IS_IN_TIME} THEN {_PAUSE} ELSE clock END
    WHEN {_is(EventType.EVIDENCE_RECEIVED)} THEN
      CASE WHEN {_AWAITS_EVIDENCE} THEN {_with(**_EVIDENCE_PAUSE_ENDS)} ELSE clock END
    WHEN {_is(EventType.CLOSED)} THEN
      CASE WHEN {_AWAITS_EVIDENCE} THEN {_with(**_EVIDENCE_PAUSE_ENDS, closed_at="event.at")}
      ELSE {_with(closed_at="event.at")} END
    WHEN {_is(EventType.DECISION_EFFECTIVE)} THEN
      CASE WHEN {_AWAITS_EVIDENCE} THEN {_with(**_EVIDENCE_PAUSE_ENDS, **_DECISION)}
      ELSE {_with(**_DECISION)} END
    WHEN {_is(EventType.ESCALATED)} THEN
      CASE WHEN clock.escalated THEN clock ELSE {_ESCALATE} END
    WHEN {_is(EventType.DECISION_AMENDED)} THEN
      CASE WHEN {_IS_DECIDED} THEN {_with(**_DECISION)} ELSE clock END
    WHEN {_is(EventType.REOPENED)} THEN
      CASE WHEN NOT ({_IS_DECIDED}) THEN clock
      WHEN {_WAS_PAUSE} THEN {_REOPEN_AFTER_PAUSE} ELSE {_with(**_DECISION_ENDS)} END
"""

_FIRST_VALUES = {"paused_micros": "0", "paused_days": "0", "escalated": "false"}
_AT_FIRST = "struct({})".format(
    ", ".join(
        f"cast({_FIRST_VALUES.get(name, 'NULL')} AS {kind}) AS {name}"
        for name, kind in _STATE.items()
    )
)
