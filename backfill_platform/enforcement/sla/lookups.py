"""Lookups in the calendar's arrays as Spark expressions, each a single array access.

The arrays travel as literals in the plan, which works on classic and on Connect frames, needs no
join and stays inside generated code. What lies outside the calendar gives null, and a null deadline
fails the contract: no deadline is ever guessed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from pyspark.sql import Column
from pyspark.sql import functions as F

from backfill_platform.enforcement.lifecycle import CASE_CLASSES
from backfill_platform.enforcement.sla.calendar_tables import DAY_SECONDS, CalendarTables

DAY_MICROS = DAY_SECONDS * 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookups:
    """`place` is a jurisdiction's place among the calendar's codes, counted from 0."""

    tables: CalendarTables
    codes: Column
    utc_offset_seconds: Column
    business_days_before: Column
    ordinal_at_day_end: Column
    due_seconds: Column
    terms: Column
    sla_days: Column
    extra_days: Column

    @classmethod
    def of(cls, tables: CalendarTables) -> Self:
        return cls(
            tables=tables,
            codes=F.split(F.lit(",".join(tables.codes)), ","),
            utc_offset_seconds=_array(tables.utc_offset_seconds, "int"),
            business_days_before=_array(tables.business_days_before, "int"),
            ordinal_at_day_end=_array(tables.ordinal_at_day_end, "int"),
            due_seconds=_array(tables.due_seconds, "bigint"),
            terms=_array(tables.terms, "int"),
            sla_days=_array(tables.sla_days, "int"),
            extra_days=_array(tables.extra_days, "int"),
        )

    def place(self, jurisdiction: Column) -> Column:
        return F.nullif(F.array_position(self.codes, jurisdiction), F.lit(0)).cast("int") - 1

    def local_day(self, micros: Column, place: Column) -> Column:
        """The local date of an instant, in days since 1970."""
        offset = self._by_day(self.utc_offset_seconds, utc_day(micros), place)
        return floor_divide(micros + offset.cast("bigint") * 1_000_000, DAY_MICROS)

    def business_days_until(self, local_day: Column, place: Column) -> Column:
        """How many business days come before a local date."""
        return self._by_day(self.business_days_before, local_day, place)

    def ordinal_at_end_of(self, day: Column, place: Column) -> Column:
        """How many business days come before the local date at which a UTC day ends."""
        return self._by_day(self.ordinal_at_day_end, day, place)

    def due_micros(self, ordinal: Column, place: Column) -> Column:
        seconds = F.get(self.due_seconds, place * self.tables.days + ordinal)
        return F.nullif(seconds, F.lit(0)) * 1_000_000

    def sla_business_days(self, case_class: Column, opened_on: Column, place: Column) -> Column:
        terms = self._by_day(self.terms, opened_on, place)
        return F.get(self.sla_days, terms * len(CASE_CLASSES) + case_class)

    def extra_business_days(self, opened_on: Column, place: Column) -> Column:
        return F.get(self.extra_days, self._by_day(self.terms, opened_on, place))

    def _by_day(self, entries: Column, day: Column, place: Column) -> Column:
        offset = day - self.tables.first_day
        is_known = (offset >= 0) & (offset < self.tables.days)
        return F.when(is_known, F.get(entries, (place * self.tables.days + offset).cast("int")))


def utc_day(micros: Column) -> Column:
    return floor_divide(micros, DAY_MICROS)


def floor_divide(micros: Column, unit: int) -> Column:
    return F.call_function("div", micros - F.pmod(micros, F.lit(unit)), F.lit(unit)).cast("int")


def _array(entries: Sequence[int], element: str) -> Column:
    # One string instead of thousands of literals: the optimizer folds it once into an array.
    return F.split(F.lit(",".join(map(str, entries))), ",").cast(f"array<{element}>")
