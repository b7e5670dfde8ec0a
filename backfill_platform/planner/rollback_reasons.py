"""Which days a rollback is about, and what forbids to return them: sentences, all at once."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import date

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import PublishMode
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import EMPTY_PARTITION
from backfill_platform.planner.owed import current_entry
from backfill_platform.planner.refusals import NO_REASON
from backfill_platform.planner.rollback_facts import RollbackFacts, RollbackRequest
from backfill_platform.planner.schema_return import schema_return_reasons
from backfill_platform.planner.wording import count_of, name_days

SHOWN_FILES = 3


def asked_days(request: RollbackRequest, facts: RollbackFacts) -> tuple[date, ...]:
    """Those that are named; or else all that the run changed, without what was undone before."""
    if request.days is not None:
        return tuple(request.days)
    return tuple(day for day in sorted(facts.histories) if not _is_undone(facts, day))


def rollback_reasons(request: RollbackRequest, facts: RollbackFacts) -> Iterator[str]:
    if not request.reason.strip():
        yield NO_REASON
    asked = asked_days(request, facts)
    if not asked:
        yield _nothing_to_undo(facts)
        return
    strange = [day for day in asked if day not in facts.histories]
    if strange:
        yield _never_changed(facts, strange)
    others = [day for day in asked if day in facts.histories and facts.owed(day) is None]
    if others:
        yield from _superseded(request, facts, others)
    owed = [day for day in asked if facts.owed(day) is not None]
    yield from _written_by_others(facts, owed)
    yield from _no_longer_there(facts, owed)
    yield from schema_return_reasons(facts, owed)
    yield from _may_bring_back(facts, owed)
    yield from _part_of_swap(facts, asked)
    yield from _held_by_others(facts, asked)


def _is_undone(facts: RollbackFacts, day: date) -> bool:
    current = current_entry(facts.histories[day])
    return current is not None and current.run_id in facts.own_rollbacks


def _nothing_to_undo(facts: RollbackFacts) -> str:
    run_id = facts.undone.run_id
    if facts.histories:
        by = " and ".join(sorted(facts.own_rollbacks))
        return f"everything that {run_id} changed has been rolled back already, by {by}"
    return (
        f"{run_id} is {facts.state} and has published nothing that could be taken back"
        "; a run that still goes on is ended with `backfill cancel`"
    )


def _never_changed(facts: RollbackFacts, days: Iterable[date]) -> str:
    run_id = facts.undone.run_id
    changed = f"it changed {name_days(facts.histories)}" if facts.histories else "it changed none"
    return f"{run_id} did not change {name_days(days)}, so there is nothing to return; {changed}"


def _superseded(
    request: RollbackRequest, facts: RollbackFacts, days: Iterable[date]
) -> Iterator[str]:
    by_owner: defaultdict[RunId, list[date]] = defaultdict(list)
    for day in days:
        current = current_entry(facts.histories[day])
        assert current is not None, "a day with a history is owed to somebody"
        by_owner[current.run_id].append(day)
    for owner, its_days in sorted(by_owner.items()):
        yield (
            f"{name_days(its_days)} is no longer owed to {facts.undone.run_id} but to {owner}; "
            f"roll that run back first: `backfill rollback {owner}`"
            f"{_or_the_others(request, facts)}"
        )


def _or_the_others(request: RollbackRequest, facts: RollbackFacts) -> str:
    owed = [day for day in asked_days(request, facts) if facts.owed(day) is not None]
    if not owed:
        return ""
    return f', or ask for the others alone: `--days "{PartitionSet.of_days(owed)}"`'


def _written_by_others(facts: RollbackFacts, days: Iterable[date]) -> Iterator[str]:
    held = facts.target.fingerprints
    moved = [
        day
        for day in days
        if day in facts.left and held.get(day, EMPTY_PARTITION) != facts.left[day]
    ]
    if moved:
        yield (
            f"{name_days(moved)} no longer holds what {facts.undone.run_id} left there: somebody "
            "has written to it since, and that would be lost. Look at the table's history, then "
            "restate these days with a new run"
        )


def _no_longer_there(facts: RollbackFacts, days: Iterable[date]) -> Iterator[str]:
    gone = [day for day in days if facts.before[day].rows is None]
    if gone:
        versions = sorted({facts.before[day].version for day in gone})
        named = ", ".join(str(version) for version in versions[:SHOWN_FILES])
        yield (
            f"what {name_days(gone)} held before can no longer be read (version {named} of the "
            f"target); {_was_possible(facts, gone)}"
        )
    lacking = [day for day in days if facts.before[day].missing]
    if lacking:
        files = [file for day in lacking for file in facts.before[day].missing]
        retired = sorted({facts.retired[file] for file in files if file in facts.retired})
        went = f"were retired ({' and '.join(retired)})" if retired else "are gone"
        yield (
            f"{len(files)} of the files that {name_days(lacking)} held before {went} "
            f"({', '.join(files[:SHOWN_FILES])}); {_was_possible(facts, lacking)}"
        )


def _may_bring_back(facts: RollbackFacts, days: Iterable[date]) -> Iterator[str]:
    """Invariant: a rollback brings back neither a listed subject nor values that are masked now
    (test_a_rollback_to_rows_of_an_older_list_is_refused)."""
    today = facts.deletions
    listed_since = [day for day in days if today and _returns(facts, day, _of_another_list)]
    if today and listed_since:
        yield (
            f"what {name_days(listed_since)} held before was not staged without the "
            f"{count_of(today.subjects, 'subject')} whom {today.name} names now, so somebody who "
            "is to be forgotten could come back; restate these days with a new run"
        )
    unmasked = [day for day in days if facts.masks and _returns(facts, day, _masked_otherwise)]
    if unmasked:
        yield (
            f"what {name_days(unmasked)} held before was staged under another configuration, so it "
            f"may show {', '.join(facts.masks)} as they were before they were masked; restate "
            "these days with a new run"
        )


def _returns(
    facts: RollbackFacts, day: date, is_exposed: Callable[[RollbackFacts, Manifest], bool]
) -> bool:
    """Whether any file of the day comes from such a run, or from nobody knows where."""
    owners = (facts.owners.get(owner) if owner else None for owner in facts.before[day].owners)
    return any(owner is None or is_exposed(facts, owner) for owner in owners)


def _of_another_list(facts: RollbackFacts, owner: Manifest) -> bool:
    return owner.deletions != facts.deletions


def _masked_otherwise(facts: RollbackFacts, owner: Manifest) -> bool:
    return owner.transform.config_hash != facts.config_hash


def _was_possible(facts: RollbackFacts, days: Iterable[date]) -> str:
    until = facts.possible_until(days)
    return f"that was sure until {until:%Y-%m-%d %H:%M} UTC; restate these days with a new run"


def _part_of_swap(facts: RollbackFacts, days: Iterable[date]) -> Iterator[str]:
    """Invariant: what took the place of a whole table gives it back as a whole
    (test_a_part_of_a_swap_is_not_rolled_back)."""
    staying = frozenset(facts.histories) - frozenset(days)
    if facts.undone.target.publish_mode is PublishMode.SHADOW_SWAP and staying:
        yield (
            f"{facts.undone.run_id} took the place of the whole table, so it is rolled back as a "
            f"whole, and {name_days(staying)} would stay; leave `--days` out"
        )


def _held_by_others(facts: RollbackFacts, days: Iterable[date]) -> Iterator[str]:
    asked = frozenset(days)
    for other in sorted(facts.in_flight, key=lambda run: run.run_id):
        shared = [day for day in other.days if day in asked]
        if shared:
            yield (
                f"run {other.run_id} of {other.requested_by} is {other.state} and may publish "
                f"{name_days(shared)}: wait for it, or end it with `backfill cancel {other.run_id}`"
            )
