"""The options of `plan` and `estimate`: which days, why, with which code and data, how fast.

What is typed becomes a value of the domain here, or a sentence that shows how to write it.
"""

from collections.abc import Callable
from datetime import date
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, TypeVar

import typer

from backfill_platform.domain.day_notation import parse_days
from backfill_platform.domain.intents import ReferenceChoice
from backfill_platform.domain.limits import DailyWindow
from backfill_platform.domain.modes import (
    ExecutionMode,
    Knowledge,
    PublishScope,
    ReferenceSemantics,
    RunKind,
)
from backfill_platform.domain.override_notation import (
    SaidSeverity,
    SaidTolerance,
    parse_expected,
    parse_severity,
    parse_tolerance,
)
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.quality import ExpectedChange
from backfill_platform.domain.verdicts import GateSeverity

_SCOPE = "Which days (one of the three ways)"
_WHY = "Why and who"
_WHAT = "With which code and data"
_JUDGED = "How it is judged (as the table declares when nothing is said)"
_SHOWN = "How it becomes visible (as the table declares when nothing is said)"
_LIMITS = "Limits (they tighten those of policy and table, and never loosen them)"


SCOPES = tuple(scope.lower().replace("_", "-") for scope in PublishScope)


Said = TypeVar("Said")


class NamedChoice(NamedTuple):
    name: str
    choice: ReferenceChoice


def parse_scope(text: str) -> PartitionSet:
    try:
        return parse_days(text)
    except ValueError as wrong:
        raise typer.BadParameter(str(wrong)) from wrong


def parse_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as wrong:
        raise typer.BadParameter(f"{text!r} is no day; write 2025-01-31") from wrong


def parse_window(text: str) -> DailyWindow:
    start, _, end = text.partition("-")
    try:
        return DailyWindow(start=start.strip(), end=end.strip())
    except ValueError as wrong:
        raise typer.BadParameter(f"{text!r} is no window; write 22:00-06:00, in UTC") from wrong


def parse_money(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation as wrong:
        raise typer.BadParameter(f"{text!r} is no amount; write 12.50") from wrong
    if not amount.is_finite():
        raise typer.BadParameter(f"{text!r} is no amount; write 12.50")
    return amount


def parse_publish_scope(text: str) -> PublishScope:
    try:
        return PublishScope(text.upper().replace("-", "_"))
    except ValueError as wrong:
        raise typer.BadParameter(f"{text!r} is none of {', '.join(SCOPES)}") from wrong


def parse_reference(text: str) -> NamedChoice:
    """Without semantics a version is the corrected truth; without a version they choose it."""
    name, equals, choice = text.partition("=")
    version, _, semantics = choice.partition(":")
    if not name or not equals or not choice.strip(":"):
        raise typer.BadParameter(f"{text!r} must be NAME=VERSION:SEMANTICS")
    try:
        meaning = ReferenceSemantics((semantics or ReferenceSemantics.CORRECTED_TRUTH).upper())
    except ValueError as wrong:
        known = ", ".join(ReferenceSemantics)
        raise typer.BadParameter(f"{semantics!r} is none of {known}") from wrong
    return NamedChoice(name, ReferenceChoice(version=version or None, semantics=meaning))


def parse_said_severity(text: str) -> SaidSeverity:
    return _said(parse_severity, text)


def parse_said_tolerance(text: str) -> SaidTolerance:
    return _said(parse_tolerance, text)


def parse_said_change(text: str) -> ExpectedChange:
    return _said(parse_expected, text)


def _said(parse: Callable[[str], Said], text: str) -> Said:
    try:
        return parse(text)
    except ValueError as wrong:
        raise typer.BadParameter(str(wrong)) from wrong


def _option(panel: str, help_text: str, *names: str, **given: Any) -> Any:
    return typer.Option(*names, help=help_text, rich_help_panel=panel, **given)


Days = Annotated[
    PartitionSet | None,
    _option(
        _SCOPE,
        '"2025-01-01..2025-01-31, 2025-03-01", both ends included.',
        parser=parse_scope,
        metavar="DAYS",
    ),
]
Start = Annotated[date | None, _option(_SCOPE, "The first day.", parser=parse_day, metavar="DAY")]
End = Annotated[
    date | None, _option(_SCOPE, "The last day, included.", parser=parse_day, metavar="DAY")
]
Full = Annotated[bool, _option(_SCOPE, "All that the inputs hold.", "--full")]

Reason = Annotated[str, _option(_WHY, "Why these numbers change; a plan needs one.")]
Ticket = Annotated[str, _option(_WHY, "Where it was asked for.")]
RequestedBy = Annotated[str, _option(_WHY, "The OS user when nothing is said.", metavar="NAME")]
Replaces = Annotated[str, _option(_WHY, "An unfinished run, whose scope changes.", metavar="RUN")]


def _words(meaning: str, words: type[StrEnum]) -> str:
    return f"{meaning}: {', '.join(words)}."


Kind = Annotated[
    RunKind,
    _option(_WHAT, _words("Why it changes", RunKind), case_sensitive=False, metavar="KIND"),
]
Mode = Annotated[
    ExecutionMode | None,
    _option(
        _WHAT,
        f"{_words('What its code may touch', ExecutionMode)} LIVE for kind LIVE, else BACKFILL.",
        case_sensitive=False,
        metavar="MODE",
    ),
]
KnownBy = Annotated[
    Knowledge | None,
    _option(
        _WHAT,
        f"{_words('Which arrivals a day may use', Knowledge)} The first for LIVE, else the last.",
        case_sensitive=False,
        metavar="WHICH",
    ),
]
Transform = Annotated[str, _option(_WHAT, "The newest when nothing is said.", metavar="VERSION")]
References = Annotated[
    list[NamedChoice] | None,
    _option(
        _WHAT,
        "A version of reference data and what it stands for; repeatable.",
        parser=parse_reference,
        metavar="NAME=VERSION:SEMANTICS",
    ),
]

ComputeAll = Annotated[
    bool,
    _option(
        _WHAT,
        "Compute every day, also those that are proved to come out as they are.",
        "--compute-all",
    ),
]

Severities = Annotated[
    list[SaidSeverity] | None,
    _option(
        _JUDGED,
        f"What follows where a gate does not pass: {', '.join(GateSeverity)}; repeatable.",
        "--severity",
        parser=parse_said_severity,
        metavar="GATE=SEVERITY",
    ),
]
Tolerances = Annotated[
    list[SaidTolerance] | None,
    _option(
        _JUDGED,
        "How far a figure may stray from the expected one, as MEASURE=2 or =0.5%; repeatable.",
        "--tolerance",
        parser=parse_said_tolerance,
        metavar="MEASURE=ALLOWED",
    ),
]
Expected = Annotated[
    list[ExpectedChange] | None,
    _option(
        _JUDGED,
        "How a figure will move against what is accepted; repeatable.",
        "--expect",
        parser=parse_said_change,
        metavar="MEASURE=-90%..-60%",
    ),
]

Scope = Annotated[
    PublishScope | None,
    _option(
        _SHOWN,
        f"How much at once, and for whom: {', '.join(SCOPES)}.",
        "--publish-scope",
        parser=parse_publish_scope,
        metavar="SCOPE",
    ),
]
AsOf = Annotated[
    date | None,
    _option(
        _SHOWN,
        "Of versioned output; today when nothing is said.",
        "--as-of",
        parser=parse_day,
        metavar="DAY",
    ),
]
AcceptSchemaChange = Annotated[
    list[str] | None,
    _option(
        _SHOWN,
        "A column that may be removed, narrowed or tightened; repeatable.",
        metavar="COLUMN",
    ),
]
ManualPublish = Annotated[
    bool, _option(_SHOWN, "Stage and judge; somebody publishes by hand.", "--manual-publish")
]
Examine = Annotated[
    bool,
    _option(_WHAT, "Start Spark, and look at its plan of the transform as well.", "--examine"),
]
MaxRows = Annotated[int | None, _option(_LIMITS, "Of input, in all.")]
MaxCost = Annotated[
    Decimal | None, _option(_LIMITS, "In all.", parser=parse_money, metavar="AMOUNT")
]
MaxRowsPerMinute = Annotated[int | None, _option(_LIMITS, "Of input.")]
MaxBytesPerMinute = Annotated[int | None, _option(_LIMITS, "Of input.")]
MaxCommitsPerHour = Annotated[int | None, _option(_LIMITS, "To the table, by this run.")]
MaxPartitionsAtOnce = Annotated[int | None, _option(_LIMITS, "Over all chunks.")]
PauseSeconds = Annotated[int, _option(_LIMITS, "Between chunks.")]
OffPeak = Annotated[
    DailyWindow | None,
    _option(
        _LIMITS,
        "Chunks begin in these hours only, in UTC.",
        parser=parse_window,
        metavar="22:00-06:00",
    ),
]
