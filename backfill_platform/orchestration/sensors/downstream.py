"""Restates the tables below what a publication or a rollback has changed, and begins those runs.

A run is followed once the launch that it belongs to has ended: the launch may itself bring the
tables below up to date. What cannot be planned yet is kept in the cursor and looked at again; a
lost cursor looks back some days, and finds what it had planned by its origin.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import dagster as dg

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.runs import LandedPosition
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.watch.following import ORIGIN, follow_run
from backfill_platform.orchestration.sensors.beginning import begin_planned
from backfill_platform.orchestration.sensors.launched import is_group_at_work
from backfill_platform.orchestration.sensors.looks import Answer

NAME = "restate_downstream"
EVERY_SECONDS = 30
AT_ONCE = 10  # runs that are followed in one tick; the others wait in the cursor

LOOK_BACK = timedelta(days=7)
# A fact is stamped before its transaction ends, so a later stamp may be seen first.
SETTLING = timedelta(seconds=30)

_PAGE = 200
_MOST_WAITING = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far publications were read, and which runs have not been followed to the end."""

    position: LandedPosition
    waiting: tuple[RunId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    planned: tuple[RunId, ...]
    waits: tuple[str, ...]
    waiting: tuple[RunId, ...]


def look_downstream(platform: Platform, instance: dg.DagsterInstance, cursor: str | None) -> Answer:
    place = _read_on(platform, read_place(cursor, platform.clock()))
    done = _follow(platform, instance, place.waiting)
    begun = begin_planned(platform, instance, ORIGIN)
    return Answer(
        said=" ".join([*_sentences(place, done), *begun.left_alone]),
        requests=begun.requests,
        cursor=write_place(replace(place, waiting=done.waiting[-_MOST_WAITING:])),
    )


def read_place(cursor: str | None, now: datetime) -> Place:
    """One that cannot be read is as good as lost."""
    try:
        told = json.loads(cursor or "{}")
        position = LandedPosition(
            fact_at=datetime.fromisoformat(told["fact_at"]).astimezone(UTC),
            publication_id=told["publication_id"],
        )
        return Place(position=position, waiting=tuple(map(RunId, told["waiting"])))
    except (KeyError, TypeError, ValueError):
        return Place(position=LandedPosition(fact_at=now - LOOK_BACK, publication_id=""))


def write_place(place: Place) -> str:
    return json.dumps(
        {
            "fact_at": place.position.fact_at.isoformat(),
            "publication_id": place.position.publication_id,
            "waiting": list(place.waiting),
        }
    )


def _read_on(platform: Platform, place: Place) -> Place:
    landed = platform.ledger.landed_since(
        place.position, until=platform.clock() - SETTLING, limit=_PAGE
    )
    if not landed:
        return place
    newest = landed[-1]
    assert newest.fact_at is not None, "what has landed says when"
    runs = dict.fromkeys((*place.waiting, *(one.intent.run_id for one in landed)))
    return Place(
        position=LandedPosition(
            fact_at=newest.fact_at, publication_id=newest.intent.publication_id
        ),
        waiting=tuple(runs),
    )


def _follow(platform: Platform, instance: dg.DagsterInstance, waiting: Sequence[RunId]) -> _Round:
    """Whoever still waits afterwards stands behind those that were not looked at."""
    still: list[RunId] = []
    waits: list[str] = []
    planned: list[RunId] = []
    for run_id in waiting[:AT_ONCE]:
        if is_group_at_work(instance, platform.ledger.run(run_id).group_id):
            still.append(run_id)
            continue
        followed = follow_run(platform, run_id)
        planned += followed.planned
        waits += followed.waits
        still += [] if followed.is_settled else [run_id]
    return _Round(planned=tuple(planned), waits=tuple(waits), waiting=(*waiting[AT_ONCE:], *still))


def _sentences(place: Place, done: _Round) -> Iterator[str]:
    if not place.waiting:
        yield "Nothing has landed since the last look."
    if done.planned:
        yield f"These follow what has changed: {', '.join(done.planned)}."
    if done.waiting:
        yield f"To be followed later: {', '.join(done.waiting)}."
    yield from done.waits
    if place.waiting and not done.planned and not done.waiting:
        yield "Nothing below has to follow what has landed."
