"""What a launch says about its run, by tags or by config, as an intent of the domain.

A tag is said for every table of a launch, the config of a staging asset for that table alone. Which
Dagster runs belong to a launch, and which days it is about, is read in `launches`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TypeVar

import dagster as dg
from pydantic import Field

from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.intents import Intent, ReferenceChoice
from backfill_platform.domain.modes import (
    ExecutionMode,
    Knowledge,
    PublishScope,
    ReferenceSemantics,
    RunKind,
)
from backfill_platform.domain.override_notation import (
    parse_expected,
    parse_list,
    parse_severity,
    parse_tolerance,
    severities_by_gate,
    tolerances_by_measure,
)
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.quality import ExpectedChange, Tolerance
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.verdicts import Gate, GateSeverity
from backfill_platform.orchestration import tags

Said = TypeVar("Said")
Word = TypeVar("Word", bound=StrEnum)


class LaunchConfig(dg.Config):
    """What checks and publication have to know as well can only be said by tags."""

    reason: str = Field(default="", description="Why these numbers change; required, or its tag.")
    ticket: str = Field(default="", description="Where it was asked for.")
    requested_by: str = Field(default="", description="Who asks.")
    kind: str = Field(default="", description=f"{', '.join(RunKind)}; BACKFILL if nothing is said.")
    transform_version: str = Field(default="", description="The newest when nothing is said.")
    compute_all: bool = Field(
        default=False, description="Also days that are proved to come out as they are."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchWords:
    texts: Mapping[str, str]  # by the tag that says it, or would
    places: Mapping[str, str]  # of what was not said by its tag

    def place(self, tag: str) -> str:
        return self.places.get(tag, f"tag `{tag}`")


def words_of_launch(
    given: Mapping[str, str], config: LaunchConfig | None, spec: TableSpec
) -> LaunchWords:
    """Said twice is fine, and said in two ways is refused."""
    texts, places = dict(given), dict[str, str]()
    for tag, (field, text) in _configured(config, spec).items():
        if text and texts.setdefault(tag, text).casefold() != text.casefold():
            raise PlanRefused(
                (
                    f"tag `{tag}` says {texts[tag]!r} and `{field}` in the config of "
                    f"{spec.full_name} says {text!r}; say it once",
                )
            )
        if text and tag not in given:
            places[tag] = f"config `{field}`"
    return LaunchWords(texts=texts, places=places)


def _configured(config: LaunchConfig | None, spec: TableSpec) -> Mapping[str, tuple[str, str]]:
    said = config or LaunchConfig()
    return {
        tags.REASON: ("reason", said.reason),
        tags.TICKET: ("ticket", said.ticket),
        tags.REQUESTED_BY: ("requested_by", said.requested_by),
        tags.KIND: ("kind", said.kind),
        tags.TRANSFORM_PREFIX + spec.full_name: ("transform_version", said.transform_version),
        tags.COMPUTE_ALL: ("compute_all", "true" if said.compute_all else ""),
    }


def build_intent(
    words: LaunchWords, spec: TableSpec, days: PartitionSet, *, origin: str, group_id: str
) -> Intent:
    kind = _word(RunKind, words, tags.KIND, RunKind.BACKFILL)
    is_live = kind is RunKind.LIVE
    default_mode = ExecutionMode.LIVE if is_live else ExecutionMode.BACKFILL
    default_knowledge = Knowledge.AS_KNOWN_THEN if is_live else Knowledge.UP_TO_SNAPSHOT
    texts = words.texts
    return Intent(
        table=spec.full_name,
        days=days,
        kind=kind,
        mode=_word(ExecutionMode, words, tags.MODE, default_mode),
        knowledge=_word(Knowledge, words, tags.KNOWLEDGE, default_knowledge),
        reason=texts.get(tags.REASON, ""),
        ticket=texts.get(tags.TICKET, ""),
        requested_by=texts.get(tags.REQUESTED_BY, "dagster"),
        origin=origin,
        group_id=group_id,
        transform_version=texts.get(tags.TRANSFORM_PREFIX + spec.full_name),
        references=_references(texts, spec),
        publish_scope=_publish_scope(words),
        as_of=_as_of(words),
        accepted_schema_changes=frozenset(
            texts.get(tags.ACCEPT_SCHEMA_CHANGE, "").replace(",", " ").split()
        ),
        severities=_said(words, tags.SEVERITY, _severities),
        tolerances=_said(words, tags.TOLERANCE, _tolerances),
        expected_changes=_said(words, tags.EXPECT, _expected),
        computes_all=_computes_all(words),
    )


def _word(words: type[Word], said: LaunchWords, tag: str, default: Word) -> Word:
    text = said.texts.get(tag)
    if text is None:
        return default
    try:
        return words(text.upper())
    except ValueError as unknown:
        known = ", ".join(words)
        raise PlanRefused((f"{said.place(tag)} is {text!r}; it may be {known}",)) from unknown


def _publish_scope(said: LaunchWords) -> PublishScope | None:
    """Written as on the command line or as in a manifest."""
    text = said.texts.get(tags.PUBLISH_SCOPE)
    if text is None:
        return None
    known = {tags.PUBLISH_SCOPE: text.replace("-", "_")}
    written = LaunchWords(texts=known, places=said.places)
    return _word(PublishScope, written, tags.PUBLISH_SCOPE, PublishScope.PROGRESSIVE)


def _as_of(said: LaunchWords) -> date | None:
    text = said.texts.get(tags.AS_OF)
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as wrong:
        reason = f"{said.place(tags.AS_OF)} is {text!r}, which is no day; write 2025-01-31"
        raise PlanRefused((reason,)) from wrong


def _computes_all(said: LaunchWords) -> bool:
    text = said.texts.get(tags.COMPUTE_ALL, "")
    if text.casefold() not in ("", "true", "false"):
        reason = f"{said.place(tags.COMPUTE_ALL)} is {text!r}; it may be true or false"
        raise PlanRefused((reason,))
    return text.casefold() == "true"


def _said(said: LaunchWords, tag: str, parse: Callable[[str], Said]) -> Said:
    try:
        return parse(said.texts.get(tag, ""))
    except ValueError as wrong:
        raise PlanRefused((f"{said.place(tag)}: {wrong}",)) from wrong


def _severities(text: str) -> dict[Gate, GateSeverity]:
    return severities_by_gate(parse_list(text, parse_severity))


def _tolerances(text: str) -> dict[str, Tolerance]:
    return tolerances_by_measure(parse_list(text, parse_tolerance))


def _expected(text: str) -> tuple[ExpectedChange, ...]:
    return parse_list(text, parse_expected)


def _references(given: Mapping[str, str], spec: TableSpec) -> dict[str, ReferenceChoice]:
    return {
        use.name: parse_reference_choice(given[tags.REFERENCE_PREFIX + use.name])
        for use in spec.references
        if tags.REFERENCE_PREFIX + use.name in given
    }


def parse_reference_choice(text: str) -> ReferenceChoice:
    version, _, semantics = text.partition(":")
    try:
        meaning = (semantics or ReferenceSemantics.CORRECTED_TRUTH).upper()
        return ReferenceChoice(version=version or None, semantics=ReferenceSemantics(meaning))
    except ValueError as unknown:
        known = ", ".join(ReferenceSemantics)
        reason = (
            f"reference choice {text!r} must be `version:semantics`, or `:semantics` where that "
            f"chooses the version, with one of {known}"
        )
        raise PlanRefused((reason,)) from unknown
