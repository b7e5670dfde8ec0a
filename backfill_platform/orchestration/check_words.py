"""What stands at the top of a check's page: what broke, since when, and what is blocked.

Plain text, for of the three places that show it only one knows Markdown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from backfill_platform.domain.impacts import Impact
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.verdicts import Outcome
from backfill_platform.engine.look.gate_story import (
    Blocked,
    FailingSince,
    GateStory,
    Standing,
    Trouble,
)

_RANGES_SHOWN = 3
_TABLES_SHOWN = 4

_WORDS: Mapping[Outcome, str] = {
    Outcome.FAILED: "Failed",
    Outcome.HELD: "Held for an owner's review",
    Outcome.WARNED: "Warning",
    Outcome.PASSED: "Passed",
}
_WORST_FIRST = tuple(_WORDS)


def worst_first(strays: Iterable[GateStory]) -> list[GateStory]:
    return sorted(
        strays, key=lambda story: (_WORST_FIRST.index(story.verdict.outcome), story.verdict.day)
    )


def describe_day(story: GateStory) -> str:
    verdict = story.verdict
    about = f"{_WORDS[verdict.outcome]} on {verdict.day}"
    if story.trouble is None:
        return f"{about}: expected {verdict.expected}, found {verdict.found}."
    return f"{about}: {verdict.message}. Owner: {story.owner}."


def describe_run(stories: Sequence[GateStory], *, days: int) -> str:
    """Of one gate; `days` are those that were to be judged."""
    strays = worst_first(story for story in stories if story.trouble)
    unjudged = f" {days - len(stories)} more are not judged yet." if days > len(stories) else ""
    if not strays:
        return f"Passed on all {len(stories)} judged days.{unjudged}"
    worst = strays[0].verdict
    said = f"{worst.day}: {worst.message}. Owner: {strays[0].owner}."
    return f"{_counted(strays)} of {days} days.{unjudged} {said}"


def describe_unjudged(gate: str, *, is_planned: bool) -> str:
    if is_planned:
        return "No verdict is stored for these partitions; nothing may be published."
    return f"The run was planned when its table had no gate {gate}, so it is not judged by it."


def _counted(strays: Sequence[GateStory]) -> str:
    counts = {
        word: sum(story.verdict.outcome is outcome for story in strays)
        for outcome, word in _WORDS.items()
    }
    said = ", ".join(f"{word} on {count}" for word, count in counts.items() if count)
    return said[0] + said[1:].lower()


def trouble_lines(story: GateStory, trouble: Trouble) -> Mapping[str, str]:
    """The page sorts them by these names, which come before those of its tables."""
    return {
        "blocked": "; ".join(_blocked(trouble.blocked, story)),
        "broken since": _since(trouble.since, story),
        "do now": "; ".join(trouble.commands),
    }


def _since(since: FailingSince, story: GateStory) -> str:
    first = (
        "this run"
        if since.run_id == story.run_id
        else f"{since.run_id}, {since.runs} runs in a row"
    )
    before = since.passed_before
    return f"{show_instant(since.judged_at)}, {first}; " + (
        f"{before} passed it" if before else "nobody judged it before"
    )


def _blocked(blocked: Blocked, story: GateStory) -> Iterator[str]:
    if blocked.days is None:
        is_published = story.standing is Standing.PUBLISHED
        yield "nothing, it is published" if is_published else "nothing"
        return
    yield f"not published: {story.table} {show_days(blocked.days)}"
    yield from map(_downstream, blocked.downstream[:_TABLES_SHOWN])
    left_over = len(blocked.downstream) - _TABLES_SHOWN
    if left_over > 0:
        yield f"and {left_over} more tables"


def _downstream(impact: Impact) -> str:
    return f"waiting for it: {impact.table} {show_days(impact.days)} ({impact.owner})"


def show_days(days: PartitionSet) -> str:
    shown = ", ".join(str(part) for part in days.ranges[:_RANGES_SHOWN])
    left_over = len(days.ranges) - _RANGES_SHOWN
    return f"{shown} and {left_over} more ranges" if left_over > 0 else shown


def show_instant(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
