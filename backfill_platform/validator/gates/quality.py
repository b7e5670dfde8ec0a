"""Whether rows are good in themselves: keys, values, what they refer to and what they show.

Every gate here counts rows that break a rule; a rule that nobody counted by is not kept.
"""

from collections.abc import Callable, Iterable, Mapping

from backfill_platform.domain.contracts import BY_PANDERA
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.validator.gates.facts import Found, unmeasured
from backfill_platform.validator.gates.rules import GateRules
from backfill_platform.validator.gates.wording import (
    counted,
    counted_in,
    listed,
    rows,
    said,
    total,
    with_remedy,
)

NOTHING_DECLARED = "no list and no mask is declared"


def key_unique(measured: PartitionMeasurement, _rules: GateRules) -> Found:
    repeated = measured.duplicate_keys
    strays = f"{rows(repeated)} repeating the key of another row; correct the input or the key"
    return Found(expected="0", found=said(repeated), strays=strays if repeated else "")


def values_valid(measured: PartitionMeasurement, rules: GateRules) -> Found:
    nulls, failures = measured.null_counts, measured.check_failures
    missing = [*_uncounted(rules.not_null, nulls), *_uncounted(rules.checks, failures)]
    if missing:
        return unmeasured(missing)
    causes = [
        *(f"{counted_in('null', count)} in {column}" for column, count in _positive(nulls).items()),
        *(_failing(check, count) for check, count in _positive(failures).items()),
    ]
    figures = counted({f"nulls in {column}": count for column, count in nulls.items()})
    return Found(
        expected="0",
        found=total([*nulls.values(), *failures.values()]),
        figures=figures + counted(failures),
        strays=with_remedy(causes, "look at the failing sample and correct the input or the model"),
    )


def _failing(check: str, count: int) -> str:
    """pandera says of a check that it does not hold, and of no row."""
    is_of_rows = not check.endswith(BY_PANDERA)
    return f"{rows(count)} failing {check}" if is_of_rows else f"{check} does not hold"


def relations_kept(measured: PartitionMeasurement, rules: GateRules) -> Found:
    remedy = "load what they refer to, or correct the input, and stage again"
    return _none_of(
        measured.orphans, rules.relations, lambda name: f"whose {name} refers to nothing", remedy
    )


def instants_bounded(measured: PartitionMeasurement, rules: GateRules) -> Found:
    remedy = "see whether a time zone or a date is wrong"
    return _none_of(
        measured.misplaced_instants,
        rules.instants,
        lambda column: f"with {column} outside the bounds of their day",
        remedy,
    )


def privacy_kept(measured: PartitionMeasurement, rules: GateRules) -> Found:
    """Invariant: no row of a subject who is listed is published
    (test_a_listed_subject_that_comes_back_fails_the_gate_and_is_not_published)."""
    if not rules.promises:
        return Found(expected=NOTHING_DECLARED, found=NOTHING_DECLARED)
    missing = _uncounted(rules.promises, measured.private_rows)
    if missing:
        return unmeasured(missing)
    shown = {name: measured.private_rows[name] for name in rules.promises}
    broken = _positive(shown)
    causes = [f"rows that must not be shown: {listed(broken)}"] if broken else []
    return Found(
        expected=listed(dict.fromkeys(rules.promises, 0)),
        found=listed(shown),
        figures=counted(shown),
        strays=with_remedy(causes, "mask or leave them out in the transform, and stage again"),
    )


def _none_of(
    counts: Mapping[str, int] | None,
    declared: tuple[str, ...],
    cause: Callable[[str], str],
    remedy: str,
) -> Found:
    missing = _uncounted(declared, counts)
    if counts is None or missing:
        return unmeasured(missing)
    broken = _positive({name: counts[name] for name in declared})
    return Found(
        expected="0",
        found=total(counts[name] for name in declared),
        figures=counted({name: counts[name] for name in declared}),
        strays=with_remedy([f"{rows(n)} {cause(name)}" for name, n in broken.items()], remedy),
    )


def _uncounted(declared: Iterable[str], counts: Mapping[str, int] | None) -> list[str]:
    return [name for name in declared if counts is None or name not in counts]


def _positive(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items()) if count}
