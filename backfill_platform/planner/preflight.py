"""The checklist before a run: one finding for each check, in the order of `Check`.

A refusal stops the plan; a warning stands in the manifest, where whoever approves reads it. Nothing
is looked up here: what the world is like comes as facts, what was decided as a draft.
"""

from collections.abc import Callable, Iterator, Mapping

from backfill_platform.domain.findings import Check, Finding, Severity
from backfill_platform.domain.modes import ExecutionMode, LiveConflicts, RunKind
from backfill_platform.domain.runs import RunInFlight
from backfill_platform.planner.availability import (
    privacy_allows,
    retention_allows,
    source_available,
)
from backfill_platform.planner.conclude import Note, conclude
from backfill_platform.planner.determinism import deterministic
from backfill_platform.planner.draft import Draft
from backfill_platform.planner.publish_scope import is_never_published
from backfill_platform.planner.refusals import NO_REASON
from backfill_platform.planner.schema_reasons import schema_kept
from backfill_platform.planner.validation import overrides
from backfill_platform.planner.watermark import windows_complete
from backfill_platform.planner.wording import count_of, name_bytes, name_days, name_hours

# What is written lies beside what it replaces, and an estimate may be wrong.
FREE_BYTES_FACTOR = 2
COMFORTABLE_BYTES_FACTOR = 4
SHORT_ROLLBACK_HOURS = 24
MILDER = "this run is judged more mildly than its table"


def go_through_checklist(draft: Draft) -> tuple[Finding, ...]:
    return tuple(CHECKS[check](draft) for check in Check)


def reason_given(draft: Draft) -> Finding:
    intent = draft.intent
    return conclude(Check.REASON_GIVEN, _reason_notes(draft), otherwise=intent.ticket or "live run")


def no_run_in_flight(draft: Draft) -> Finding:
    """A run that this plan replaces does not count: it ends when this one is recorded."""
    table = draft.intent.table
    return conclude(
        Check.NO_RUN_IN_FLIGHT,
        _in_flight_notes(draft),
        otherwise=f"no other run of {table} may still publish these days",
    )


def stream_state(draft: Draft) -> Finding:
    return conclude(
        Check.STREAM_STATE, (), otherwise=f"no stream is declared to feed {draft.intent.table}"
    )


def judged_as_declared(draft: Draft) -> Finding:
    """A milder judgement is a warning, also where nobody is asked: it is never silent."""
    found = overrides(draft.spec, draft.intent)
    stricter = [one.sentence for one in found if not one.is_milder]
    milder = [one.sentence for one in found if one.is_milder]
    said = f"more strictly: {'; '.join(stricter)}" if stricter else "by what its table declares"
    return conclude(
        Check.JUDGED_AS_DECLARED,
        [(Severity.WARN, f"{MILDER}: {'; '.join(milder)}")] if milder else (),
        otherwise=said,
    )


def capacity(draft: Draft) -> Finding:
    free, most = draft.facts.free_bytes, draft.estimate.bytes_out.high
    room = f"{name_bytes(free)} are free and up to {name_bytes(most)} may be written"
    return conclude(Check.CAPACITY, _capacity_notes(free, most, room), otherwise=room)


def rollback_possible(draft: Draft) -> Finding:
    days, hours = draft.replaced_days, draft.facts.target.rollback_hours
    return conclude(
        Check.ROLLBACK_POSSIBLE,
        _rollback_notes(len(days), hours),
        otherwise=(
            f"what is replaced in {count_of(len(days), 'partition')} stays for "
            f"{name_hours(hours or 0)} after publication"
            if days
            else "nothing is replaced: rolling back empties what this run fills"
        ),
    )


def stakeholders_known(draft: Draft) -> Finding:
    owners = {draft.intent.table: draft.spec.owner}
    owners |= {impact.table: impact.owner for impact in draft.impacts}
    nobody = [table for table, owner in owners.items() if not owner.strip()]
    told = sorted({owner for owner in owners.values() if owner.strip()})
    told += [one for one in draft.requirement.notify if one not in told]
    return conclude(
        Check.STAKEHOLDERS_KNOWN,
        [(Severity.WARN, f"{table} has no owner to tell; declare one") for table in nobody],
        otherwise=f"to be told: {', '.join(told)}",
    )


def code_committed(draft: Draft) -> Finding:
    code = draft.facts.code
    return conclude(
        Check.CODE_COMMITTED,
        _commit_notes(is_committed=code.is_committed),
        otherwise=f"the transform is what commit {code.git_commit} holds",
    )


def within_limits(draft: Draft) -> Finding:
    cost = draft.estimate.cost_usd
    return conclude(
        Check.WITHIN_LIMITS,
        _limit_notes(draft),
        otherwise=(
            f"{draft.work.rows_by_chunks:,} rows and {cost.low} to {cost.high} US dollars exceed "
            "no limit"
        ),
    )


CHECKS: Mapping[Check, Callable[[Draft], Finding]] = {
    Check.REASON_GIVEN: reason_given,
    Check.SOURCE_AVAILABLE: source_available,
    Check.WINDOWS_COMPLETE: windows_complete,
    Check.RETENTION_ALLOWS: retention_allows,
    Check.PRIVACY_ALLOWS: privacy_allows,
    Check.NO_RUN_IN_FLIGHT: no_run_in_flight,
    Check.STREAM_STATE: stream_state,
    Check.JUDGED_AS_DECLARED: judged_as_declared,
    Check.SCHEMA_KEPT: schema_kept,
    Check.CAPACITY: capacity,
    Check.ROLLBACK_POSSIBLE: rollback_possible,
    Check.STAKEHOLDERS_KNOWN: stakeholders_known,
    Check.CODE_COMMITTED: code_committed,
    Check.DETERMINISTIC: deterministic,
    Check.WITHIN_LIMITS: within_limits,
}


def _reason_notes(draft: Draft) -> Iterator[Note]:
    if not draft.intent.reason.strip():
        yield Severity.REFUSE, NO_REASON
    elif not draft.intent.ticket.strip() and draft.intent.kind is not RunKind.LIVE:
        yield Severity.WARN, "no ticket is named; name the one in which this was asked for"


def _in_flight_notes(draft: Draft) -> Iterator[Note]:
    replaced = draft.facts.replaced
    never_publishes = is_never_published(draft.intent, draft.spec)
    for other in sorted(draft.facts.in_flight, key=lambda run: run.run_id):
        shared = [day for day in draft.intent.days if day in other.days]
        if not shared or (replaced and replaced.run_id == other.run_id):
            continue
        held = _say_held(other, name_days(shared))
        if _may_both_write(draft, other):
            yield Severity.WARN, f"{held} too; whoever is second has to be planned again"
            continue
        if never_publishes:
            yield Severity.WARN, f"{held}; this run publishes nothing, but may be out of date soon"
        else:
            yield (
                Severity.REFUSE,
                f"{held}: see `backfill show {other.run_id}`, then wait for it, `backfill cancel "
                f"{other.run_id}`, or plan with `--replaces {other.run_id}`",
            )


def _may_both_write(draft: Draft, other: RunInFlight) -> bool:
    is_one_live = other.is_live != (draft.intent.mode is ExecutionMode.LIVE)
    return is_one_live and draft.spec.live_conflicts is not LiveConflicts.FREEZE


def _say_held(other: RunInFlight, days: str) -> str:
    return f"run {other.run_id} of {other.requested_by} is {other.state} and may publish {days}"


def _capacity_notes(free: int, most: int, room: str) -> Iterator[Note]:
    if free < most * FREE_BYTES_FACTOR:
        yield (
            Severity.REFUSE,
            f"{room}, which needs {FREE_BYTES_FACTOR} times as much; make room or plan fewer days",
        )
    elif free < most * COMFORTABLE_BYTES_FACTOR:
        yield Severity.WARN, f"{room}, which leaves little room for anything else"


def _rollback_notes(replaced: int, hours: int | None) -> Iterator[Note]:
    if not replaced:
        return
    partitions = count_of(replaced, "partition")
    if hours is None:
        yield (
            Severity.WARN,
            f"nobody knows how long what is replaced in {partitions} stays; set "
            "delta.deletedFileRetentionDuration on the table",
        )
    elif hours < SHORT_ROLLBACK_HOURS:
        yield (
            Severity.WARN,
            f"what is replaced in {partitions} stays for {name_hours(hours)} only after "
            "publication; there is no rolling back then",
        )


def _commit_notes(*, is_committed: bool | None) -> Iterator[Note]:
    if is_committed is None:
        yield Severity.WARN, "the transform lies in no repository; its digest alone names it"
    elif not is_committed:
        yield Severity.WARN, "the transform differs from its last commit; commit it"


def _limit_notes(draft: Draft) -> Iterator[Note]:
    limits, cost, rows = draft.limits, draft.estimate.cost_usd, draft.work.rows_by_chunks
    for conflict in draft.limit_conflicts:
        yield Severity.REFUSE, conflict
    if limits.max_rows is not None and rows > limits.max_rows:
        yield (
            Severity.REFUSE,
            f"{rows:,} rows to read exceed the limit of {limits.max_rows:,}; plan fewer days",
        )
    if limits.max_cost_usd is not None and cost.high > limits.max_cost_usd:
        is_expected = cost.expected > limits.max_cost_usd
        yield (
            Severity.REFUSE if is_expected else Severity.WARN,
            f"it {'is expected to' if is_expected else 'may'} cost "
            f"{cost.expected if is_expected else cost.high} US dollars, more than the limit of "
            f"{limits.max_cost_usd}; plan fewer days",
        )
    at_once = limits.max_partitions_at_once
    longest = max(len(chunk) for chunk in draft.work.chunks)
    if at_once is not None and longest > at_once:
        yield (
            Severity.WARN,
            f"a {draft.spec.boundary} is computed as a whole: {longest} partitions at once, more "
            f"than the limit of {at_once}",
        )
