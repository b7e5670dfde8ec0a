"""Which version of reference data a run uses: the named one, or the one that its meaning chooses.

What a system believed then, what is accepted today and what the original run used are found here;
what should have been true can only be named. A version that changed within the range is refused,
because one run pins one version.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.intents import Intent, ReferenceChoice
from backfill_platform.domain.modes import ReferenceSemantics
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.tables import ReferenceData, ReferenceVersion, TableSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenReference:
    name: str
    version: str
    semantics: ReferenceSemantics


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceChoices:
    """Complete only where there are no reasons against it."""

    chosen: tuple[ChosenReference, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Impossible:
    reason: str


def choose_references(
    spec: TableSpec,
    intent: Intent,
    catalog: Catalog,
    *,
    today: date,
    original: Mapping[str, frozenset[str]],
) -> ReferenceChoices:
    """One version for each reference that the table uses, in the order of their names.

    `original` holds, by name, the versions that produced what is accepted now.
    """
    chosen: list[ChosenReference] = []
    reasons = list(declared_reference_reasons(spec, intent, catalog))
    for name, choice in sorted(_asked(spec, intent).items()):
        used = original.get(name, frozenset[str]())
        found = _choose(catalog.references[name], choice, intent.days, today=today, original=used)
        match found:
            case _Impossible(reason):
                reasons.append(reason)
            case str() as version:
                chosen.append(
                    ChosenReference(name=name, version=version, semantics=choice.semantics)
                )
    return ReferenceChoices(chosen=tuple(chosen), reasons=tuple(dict.fromkeys(reasons)))


def declared_reference_reasons(spec: TableSpec, intent: Intent, catalog: Catalog) -> Iterator[str]:
    """What is wrong with an intent's choices by the declarations alone."""
    used = {use.name for use in spec.references}
    for name, choice in sorted(intent.references.items()):
        if name not in used:
            yield f"{spec.full_name} does not use reference data {name!r}"
            continue
        found = _named_version(catalog.references[name], choice)
        if isinstance(found, _Impossible):
            yield found.reason


def _asked(spec: TableSpec, intent: Intent) -> dict[str, ReferenceChoice]:
    """By reference name: what the intent says, or else what the table ordinarily uses."""
    return {
        use.name: intent.references.get(
            use.name, ReferenceChoice(version=use.version, semantics=use.semantics)
        )
        for use in spec.references
    }


def _choose(
    reference: ReferenceData,
    choice: ReferenceChoice,
    days: PartitionSet,
    *,
    today: date,
    original: frozenset[str],
) -> str | _Impossible:
    named = _named_version(reference, choice)
    if named is not None:
        return named
    match choice.semantics:
        case ReferenceSemantics.AS_RECORDED_THEN:
            return _recorded_then(reference, days)
        case ReferenceSemantics.AS_USED_BY_ORIGINAL:
            return _used_by_original(reference, original)
        case ReferenceSemantics.CURRENT | ReferenceSemantics.CORRECTED_TRUTH:
            return _current(reference, today)


def _named_version(reference: ReferenceData, choice: ReferenceChoice) -> str | _Impossible | None:
    """Nothing where the meaning is to choose. Whoever names a version answers for its meaning."""
    known = [one.version for one in reference.versions]
    if choice.version in known:
        return choice.version
    if choice.version is not None:
        return _Impossible(
            f"reference data {reference.name!r} has no version {choice.version!r}; it has "
            f"{', '.join(known)}"
        )
    if choice.semantics is ReferenceSemantics.CORRECTED_TRUTH:
        return _Impossible(
            f"nothing tells which version of reference data {reference.name!r} is the corrected "
            f"truth; name one of {', '.join(known)}"
        )
    return None


def _recorded_then(reference: ReferenceData, days: PartitionSet) -> str | _Impossible:
    """The newest on the first day; later ones, up to the last day, were not known to all days."""
    first, last = days.span.start, days.span.last
    later = [one for one in _by_date(reference) if first < one.recorded_on <= last]
    then = _newest(reference, first)
    if then is None:
        oldest = _by_date(reference)[0]
        return _Impossible(
            f"reference data {reference.name!r} had no version on {first}; the first, "
            f"{oldest.version}, was recorded on {oldest.recorded_on}: plan later days, or name a "
            "version"
        )
    if later:
        return _Impossible(_changed_within(reference, days, later))
    return then.version


def _changed_within(
    reference: ReferenceData, days: PartitionSet, later: list[ReferenceVersion]
) -> str:
    recorded = ", ".join(f"{one.version} on {one.recorded_on}" for one in later)
    parts = " and ".join(f"[{part}]" for part in _cut(days, [one.recorded_on for one in later]))
    return (
        f"reference data {reference.name!r} changed within the range ({recorded}), and one run "
        f"uses one version: plan {parts} apart, or name a version"
    )


def _cut(days: PartitionSet, starts: list[date]) -> list[PartitionSet]:
    edges = [date.min, *sorted(starts), date.max]
    parts = ([day for day in days if start <= day < end] for start, end in pairwise(edges))
    return [PartitionSet.of_days(part) for part in parts if part]


def _used_by_original(reference: ReferenceData, original: frozenset[str]) -> str | _Impossible:
    if len(original) != 1:
        used = "several versions: " + ", ".join(sorted(original)) if original else "no version"
        return _Impossible(
            f"what is accepted now for these days used {used} of reference data "
            f"{reference.name!r}; plan days that share one, or name a version"
        )
    (version,) = original
    if version not in {one.version for one in reference.versions}:
        return _Impossible(
            f"what is accepted now used {version} of reference data {reference.name!r}, which is "
            "no longer declared; declare it again, or name a version"
        )
    return version


def _current(reference: ReferenceData, today: date) -> str | _Impossible:
    newest = _newest(reference, today)
    if newest is None:
        return _Impossible(f"reference data {reference.name!r} has no version by {today}")
    return newest.version


def _newest(reference: ReferenceData, day: date) -> ReferenceVersion | None:
    known = [one for one in _by_date(reference) if one.recorded_on <= day]
    return known[-1] if known else None


def _by_date(reference: ReferenceData) -> list[ReferenceVersion]:
    return sorted(reference.versions, key=lambda one: (one.recorded_on, one.version))
