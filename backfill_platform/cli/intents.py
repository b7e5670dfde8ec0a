"""What somebody typed becomes an intent; what is wrong with it is the planner's to say."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, TypeVar

import typer

from backfill_platform.cli.plan_options import NamedChoice
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent, ReferenceChoice
from backfill_platform.domain.limits import NO_LIMITS, Limits
from backfill_platform.domain.modes import ExecutionMode, Knowledge, PublishScope, RunKind
from backfill_platform.domain.override_notation import (
    SaidSeverity,
    SaidTolerance,
    severities_by_gate,
    tolerances_by_measure,
)
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.quality import ExpectedChange

if TYPE_CHECKING:
    from backfill_platform.domain.tables import TableSpec
    from backfill_platform.engine.platform import Platform


Said = TypeVar("Said")
Named = TypeVar("Named")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The options of `plan` and `estimate`, before anything is looked up."""

    days: PartitionSet | None  # nothing when everything is meant
    kind: RunKind
    mode: ExecutionMode | None
    knowledge: Knowledge | None
    transform_version: str | None
    references: tuple[NamedChoice, ...]
    requested_by: str
    reason: str
    ticket: str = ""
    limits: Limits = NO_LIMITS
    requires_manual_publish: bool = False
    publish_scope: PublishScope | None = None
    as_of: date | None = None
    accepted_schema_changes: frozenset[str] = frozenset()
    severities: tuple[SaidSeverity, ...] = ()
    tolerances: tuple[SaidTolerance, ...] = ()
    expected_changes: tuple[ExpectedChange, ...] = ()
    computes_all: bool = False
    replaces: RunId | None = None


def read_days(
    *, days: PartitionSet | None, start: date | None, end: date | None, full: bool
) -> PartitionSet | None:
    """Nothing when everything is meant; exactly one of the three ways to say it."""
    is_range = start is not None or end is not None
    if [days is not None, is_range, full].count(True) != 1:
        raise typer.BadParameter(
            "say once which days are meant: --days, or --start with --end, or --full",
            param_hint="--days / --start / --end / --full",
        )
    if not is_range:
        return days
    if start is None or end is None:
        raise typer.BadParameter("give both, they are included", param_hint="--start / --end")
    if end < start:
        raise typer.BadParameter(
            f"{end} lies before {start}; write --start {end} --end {start}",
            param_hint="--start / --end",
        )
    return PartitionSet.of_range(DayRange.closed(start, end))


def build_intent(platform: "Platform", spec: "TableSpec", wish: Wish) -> Intent:
    is_live = wish.kind is RunKind.LIVE
    origin = build_origin(spec.full_name, wish.requested_by, platform.clock())
    return Intent(
        table=spec.full_name,
        days=wish.days or _everything(platform, spec),
        is_full=wish.days is None,
        kind=wish.kind,
        mode=wish.mode or (ExecutionMode.LIVE if is_live else ExecutionMode.BACKFILL),
        knowledge=wish.knowledge
        or (Knowledge.AS_KNOWN_THEN if is_live else Knowledge.UP_TO_SNAPSHOT),
        reason=wish.reason,
        ticket=wish.ticket,
        requested_by=wish.requested_by,
        origin=origin,
        group_id=origin,
        transform_version=wish.transform_version,
        references=_by_name(wish.references),
        limits=wish.limits,
        requires_manual_publish=wish.requires_manual_publish,
        publish_scope=wish.publish_scope,
        as_of=wish.as_of,
        accepted_schema_changes=wish.accepted_schema_changes,
        severities=_once(severities_by_gate, wish.severities, "--severity"),
        tolerances=_once(tolerances_by_measure, wish.tolerances, "--tolerance"),
        expected_changes=wish.expected_changes,
        computes_all=wish.computes_all,
        replaces=wish.replaces,
    )


def build_origin(table: str, requested_by: str, now: datetime) -> str:
    """Each call of `plan` is a launch of its own: nobody joins it by chance."""
    return f"plan:{table}:{requested_by}:{now.isoformat()}"


def _everything(platform: "Platform", spec: "TableSpec") -> PartitionSet:
    from backfill_platform.engine.plan.inputs import full_range

    return full_range(platform, spec)


def _once(by_name: Callable[[Iterable[Said]], Named], said: Iterable[Said], hint: str) -> Named:
    try:
        return by_name(said)
    except ValueError as twice:
        raise typer.BadParameter(str(twice), param_hint=hint) from twice


def _by_name(choices: Iterable[NamedChoice]) -> dict[str, ReferenceChoice]:
    named: dict[str, ReferenceChoice] = {}
    for name, choice in choices:
        if name in named:
            raise typer.BadParameter(f"{name} is chosen twice", param_hint="--reference")
        named[name] = choice
    return named
