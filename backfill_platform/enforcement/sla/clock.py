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
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from backfill_platform.enforcement.lifecycle import EVENT_RANK, EventType

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
_AT_FIRST = {"paused_micros": 0, "paused_days": 0, "escalated": False}


def run_clock(events: Column) -> Column:
    """Folds a case's valid events, in order, into its state; not opened gives a null opening."""
    nothing = F.struct(
        *(F.lit(_AT_FIRST.get(name)).cast(kind).alias(name) for name, kind in _STATE.items())
    )
    return F.aggregate(events, nothing, _after)


def _after(state: Column, event: Column) -> Column:
    awaits_evidence = state["evidence_at"].isNotNull()
    is_decided = state["decided_at"].isNotNull()
    is_in_time = event["ordinal"] < state["deadline"]
    branches = (
        (EventType.EVIDENCE_REQUESTED, ~awaits_evidence & ~is_decided & is_in_time, _pause),
        (EventType.EVIDENCE_RECEIVED, awaits_evidence, _end_evidence_pause),
        (EventType.CLOSED, F.lit(True), _close),
        (EventType.DECISION_EFFECTIVE, F.lit(True), _decide),
        (EventType.ESCALATED, ~state["escalated"], _escalate),
        (EventType.REOPENED, is_decided, _reopen),
        (EventType.DECISION_AMENDED, is_decided, _decide),
    )
    is_looked_at = state["opened_at"].isNotNull() & state["closed_at"].isNull()
    result = F.when(_is(event, EventType.OPENED) & state["opened_at"].isNull(), _open(state, event))
    result = result.when(~is_looked_at, state)
    for event_type, applies, change in branches:
        result = result.when(_is(event, event_type) & applies, change(state, event))
    return result.otherwise(state)


def _open(state: Column, event: Column) -> Column:
    return _with(
        state,
        opened_at=event["at"],
        case_class=event["case_class"],
        deadline=event["effect_ordinal"],
        extra=event["extra"],
    )


def _pause(state: Column, event: Column) -> Column:
    return _with(state, evidence_at=event["at"], evidence_ordinal=event["ordinal"])


def _end_evidence_pause(state: Column, event: Column) -> Column:
    return _with(state, **_evidence_pause_until(state, event))


def _evidence_pause_until(state: Column, event: Column) -> dict[str, Column]:
    """What ends with `event`, or nothing at all where no evidence is awaited."""
    micros = F.coalesce(event["at"] - state["evidence_at"], F.lit(0).cast("bigint"))
    days = F.coalesce(event["ordinal"] - state["evidence_ordinal"], F.lit(0))
    waited = state["evidence_at"].isNotNull()
    return {
        "evidence_at": F.lit(None).cast("bigint"),
        "evidence_ordinal": F.lit(None).cast("int"),
        "pause_end_at": F.when(waited, event["at"]).otherwise(state["pause_end_at"]),
        "pause_end_ordinal": F.when(waited, event["ordinal"]).otherwise(state["pause_end_ordinal"]),
        "paused_micros": state["paused_micros"] + micros,
        "paused_days": state["paused_days"] + days,
        "deadline": state["deadline"] + days,
    }


def _escalate(state: Column, event: Column) -> Column:
    # While paused or decided the clock stands where it stopped, however late the escalation.
    reading = F.coalesce(
        state["evidence_ordinal"], F.least(state["decided_ordinal"], event["ordinal"])
    )
    granted = F.when(reading < state["deadline"], state["extra"]).otherwise(0)
    return _with(state, escalated=F.lit(True), deadline=state["deadline"] + granted)


def _decide(state: Column, event: Column) -> Column:
    return _with(
        state,
        **_evidence_pause_until(state, event),
        decided_at=event["effect_at"],
        decided_ordinal=event["effect_ordinal"],
    )


def _reopen(state: Column, event: Column) -> Column:
    start_at = F.greatest(state["decided_at"], state["pause_end_at"])
    start_ordinal = F.greatest(state["decided_ordinal"], state["pause_end_ordinal"])
    counts = (start_at < event["at"]) & (start_ordinal < state["deadline"])
    days = F.when(counts, event["ordinal"] - start_ordinal).otherwise(0)
    micros = F.when(counts, event["at"] - start_at).otherwise(F.lit(0).cast("bigint"))
    return _with(
        state,
        decided_at=F.lit(None).cast("bigint"),
        decided_ordinal=F.lit(None).cast("int"),
        pause_end_at=event["at"],
        pause_end_ordinal=event["ordinal"],
        paused_micros=state["paused_micros"] + micros,
        paused_days=state["paused_days"] + days,
        deadline=state["deadline"] + days,
    )


def _close(state: Column, event: Column) -> Column:
    return _with(state, **_evidence_pause_until(state, event), closed_at=event["at"])


def _with(state: Column, **changes: Column) -> Column:
    return F.struct(*(changes.get(name, state[name]).alias(name) for name in _STATE))


def _is(event: Column, event_type: EventType) -> Column:
    return event["rank"] == EVENT_RANK[event_type]
