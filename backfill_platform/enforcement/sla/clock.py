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
from backfill_platform.enforcement.sla.versions import VERSION_TYPE

_MOMENT = "struct<at: bigint, ordinal: int>"
_STATE = {
    "opened": VERSION_TYPE,
    "deadline": "int",  # the ordinal of the due date
    "awaiting": _MOMENT,  # since when evidence is awaited
    "decided": _MOMENT,  # when the decision that stands has effect
    "running": _MOMENT,  # since when the clock runs again; no later pause reaches back behind it
    "paused": "struct<micros: bigint, days: int>",
    "escalated": "boolean",
    "closed_at": "bigint",
}
_FIRST_VALUES = {"paused": "struct(0L AS micros, 0 AS days)", "escalated": "false"}


def run_clock(events: str) -> str:
    """Folds a case's valid events, in order, into its state; no opening says: no case."""
    first = ", ".join(
        f"{_FIRST_VALUES.get(name, f'cast(NULL AS {kind})')} AS {name}"
        for name, kind in _STATE.items()
    )
    return f"aggregate({events}, struct({first}), (clock, event) -> CASE {_RULES} ELSE clock END)"


def _with(**changes: str) -> str:
    fields = (f"{changes.get(name, f'clock.{name}')} AS {name}" for name in _STATE)
    return f"struct({', '.join(fields)})"


def _is(event_type: EventType) -> str:
    return f"event.rank = {EVENT_TYPES.index(event_type)}"


def _paused_since(moment: str) -> dict[str, str]:
    """A pause from `moment` to the event moves the deadline by the business days in it."""
    return {
        "paused": f"""struct(
            clock.paused.micros + event.at - {moment}.at AS micros,
            clock.paused.days + event.ordinal - {moment}.ordinal AS days)""",
        "deadline": f"clock.deadline + event.ordinal - {moment}.ordinal",
    }


_NOTHING = f"cast(NULL AS {_MOMENT})"
_NOW = "struct(event.at AS at, event.ordinal AS ordinal)"
_EFFECT = "struct(event.effect_at AS at, event.effect_ordinal AS ordinal)"

_OPENED = _with(opened="event", deadline="event.effect_ordinal")
_STOPS_AWAITING = {"awaiting": _NOTHING, "running": _NOW, **_paused_since("clock.awaiting")}

# While paused or decided the clock stands where it stopped, however late the escalation comes.
_READING = "coalesce(clock.awaiting.ordinal, least(clock.decided.ordinal, event.ordinal))"
_EXTENDED = f"clock.deadline + if({_READING} < clock.deadline, clock.opened.extra, 0)"

# From the effective decision on, but not from before the last pause was over.
_SINCE = "greatest(clock.decided, coalesce(clock.running, clock.decided))"
_WAS_PAUSE = f"{_SINCE}.at < event.at AND {_SINCE}.ordinal < clock.deadline"
_STOPS_DECISION = {"decided": _NOTHING, "running": _NOW}

_RULES = f"""
    WHEN clock.closed_at IS NOT NULL THEN clock
    WHEN clock.opened IS NULL THEN
      CASE WHEN {_is(EventType.OPENED)} THEN {_OPENED} ELSE clock END
    WHEN {_is(EventType.EVIDENCE_REQUESTED)} THEN
      CASE WHEN clock.awaiting IS NULL AND clock.decided IS NULL AND event.ordinal < clock.deadline
      THEN {_with(awaiting=_NOW)} ELSE clock END
    WHEN {_is(EventType.EVIDENCE_RECEIVED)} THEN
      CASE WHEN clock.awaiting IS NULL THEN clock ELSE {_with(**_STOPS_AWAITING)} END
    WHEN {_is(EventType.CLOSED)} THEN
      CASE WHEN clock.awaiting IS NULL THEN {_with(closed_at="event.at")}
      ELSE {_with(**_STOPS_AWAITING, closed_at="event.at")} END
    WHEN {_is(EventType.DECISION_EFFECTIVE)} THEN
      CASE WHEN clock.awaiting IS NULL THEN {_with(decided=_EFFECT)}
      ELSE {_with(**_STOPS_AWAITING, decided=_EFFECT)} END
    WHEN {_is(EventType.ESCALATED)} THEN
      CASE WHEN clock.escalated THEN clock
      ELSE {_with(escalated="true", deadline=_EXTENDED)} END
    WHEN {_is(EventType.DECISION_AMENDED)} THEN
      CASE WHEN clock.decided IS NULL THEN clock ELSE {_with(decided=_EFFECT)} END
    WHEN {_is(EventType.REOPENED)} THEN
      CASE WHEN clock.decided IS NULL THEN clock
      WHEN {_WAS_PAUSE} THEN {_with(**_STOPS_DECISION, **_paused_since(_SINCE))}
      ELSE {_with(**_STOPS_DECISION)} END
"""
