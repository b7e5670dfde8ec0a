"""Which version of an event counts on which days.

A version arrives, and is known from then on to the days whose window contains its arrival. Of the
known versions of an event the highest counts, so a version holds from one day to another; a
tombstone holds like any other and says that there is no such event.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from backfill_platform.domain.transforms import InputWindow
from backfill_platform.enforcement.lifecycle import CASE_CLASSES, EVENT_RANK, EventType, Operation
from backfill_platform.enforcement.sla.lookups import Lookups

OPENED = EVENT_RANK[EventType.OPENED]


def version_struct(lookups: Lookups, window: InputWindow) -> Column:
    """One delivered version of an event, in numbers; sorting it puts a case's events in order.

    `ordinal` counts the business days before the local date of the occurrence. For an opening,
    `effect_ordinal` is already the deadline and `extra` what an escalation would add to it.
    """
    at = F.unix_micros("occurred_at")
    effect_at = F.coalesce(F.unix_micros("effective_at"), at)
    place = lookups.place(F.col("jurisdiction"))
    local_day = lookups.local_day(at, place)
    is_opening = F.col("event_type") == EventType.OPENED.value
    arrival = F.unix_date("arrival_date")
    case_class = _number(CASE_CLASSES, F.col("case_class"))
    deadline = lookups.business_days_until(local_day + 1, place) + lookups.sla_business_days(
        case_class, local_day, place
    )
    effect_ordinal = lookups.business_days_until(lookups.local_day(effect_at, place), place)
    return F.struct(
        at.alias("at"),
        _number(tuple(EVENT_RANK), F.col("event_type")).alias("rank"),
        F.col("event_id").alias("event_id"),
        F.col("source_version").alias("version"),
        F.col("delivery").alias("delivery"),
        (arrival - window.after_days).alias("known_from"),
        (arrival + window.before_days).alias("known_to"),
        (F.col("op") == Operation.UPSERT.value).alias("stands"),
        case_class.alias("case_class"),
        lookups.business_days_until(local_day, place).alias("ordinal"),
        effect_at.alias("effect_at"),
        F.when(is_opening, deadline).otherwise(effect_ordinal).alias("effect_ordinal"),
        F.when(is_opening, lookups.extra_business_days(local_day, place)).alias("extra"),
    )


def settle_versions(versions: Column) -> Column:
    """Narrows each version's days to those on which no higher version of its event is known.

    Most cases hold every event once, and those pass untouched.
    """
    event_ids = versions["event_id"]
    repeats = F.size(F.array_distinct(event_ids)) < F.size(versions)
    settled = F.transform(versions, lambda version: _narrowed(version, versions))
    return F.when(repeats, settled).otherwise(versions)


def _narrowed(version: Column, versions: Column) -> Column:
    days = F.aggregate(
        versions,
        F.struct(version["known_from"].alias("known_from"), version["known_to"].alias("known_to")),
        lambda days, other: F.when(_outranks(other, version), _without(days, other)).otherwise(
            days
        ),
    )
    return version.withField("known_from", days["known_from"]).withField(
        "known_to", days["known_to"]
    )


def _outranks(other: Column, version: Column) -> Column:
    """Exact copies have one content; the later arrival stands for all of them."""
    order = ("version", "known_from", "delivery")
    return (other["event_id"] == version["event_id"]) & (
        F.struct(*(other[name] for name in order)) > F.struct(*(version[name] for name in order))
    )


def _without(days: Column, other: Column) -> Column:
    """All windows are equally long, so another one cuts off an end and never leaves a hole."""
    starts_within = other["known_from"] > days["known_from"]
    overlaps = (other["known_from"] <= days["known_to"]) & (other["known_to"] >= days["known_from"])
    cut_end = F.least(days["known_to"], other["known_from"] - 1)
    cut_start = F.greatest(days["known_from"], other["known_to"] + 1)
    return F.when(~overlaps, days).otherwise(
        F.struct(
            F.when(starts_within, days["known_from"]).otherwise(cut_start).alias("known_from"),
            F.when(starts_within, cut_end).otherwise(days["known_to"]).alias("known_to"),
        )
    )


def _number(words: tuple[str, ...], word: Column) -> Column:
    """The place of a word, counted from 0; null for a word that is not known."""
    known = F.split(F.lit(",".join(words)), ",")
    return F.nullif(F.array_position(known, word), F.lit(0)).cast("int") - 1
