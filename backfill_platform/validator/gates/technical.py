"""Whether a day can be judged at all: it is there, whole, and it is known where it came from."""

from datetime import date

from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.validator.gates.facts import Facts, Found, unmeasured
from backfill_platform.validator.gates.rules import GateRules
from backfill_platform.validator.gates.wording import counted, listed, rows, said, with_remedy


def partitions_complete(facts: Facts, day: date) -> Found:
    expected = "staged or empty" if facts.rules.may_be_empty else "staged"
    rows_of_day = facts.staged[day].row_count if day in facts.staged else None
    if rows_of_day is None or (rows_of_day == 0 and not facts.rules.may_be_empty):
        message = "the day is missing from staging; see that its input has arrived, and stage again"
        return Found(expected=expected, found="nothing", missing=message)
    return Found(expected=expected, found="staged" if rows_of_day else "empty")


def rows_present(measured: PartitionMeasurement, rules: GateRules) -> Found:
    count = measured.row_count
    strays = _rows_stray(count, rules)
    return Found(expected=_bounds(rules), found=said(count), strays=strays)


def _bounds(rules: GateRules) -> str:
    most = f"to {rules.rows_most:,}" if rules.rows_most is not None else "or more"
    if not rules.may_be_empty:
        return f"{rules.rows_least:,} {most}"
    return f"0 {most}" if rules.rows_least <= 1 else f"0, or {rules.rows_least:,} {most}"


def _rows_stray(count: int, rules: GateRules) -> str:
    if count == 0:
        nothing = "the day has no rows; see that its input has arrived, and stage again"
        return "" if rules.may_be_empty else nothing
    if count < rules.rows_least:
        return (
            f"the day has {rows(count)} and needs at least {rules.rows_least:,}; "
            "see what its input or the transform has lost"
        )
    if rules.rows_most is not None and count > rules.rows_most:
        return (
            f"the day has {rows(count)} and may have at most {rules.rows_most:,}; "
            "see what its input or the transform has multiplied"
        )
    return ""


def lineage_complete(measured: PartitionMeasurement, _rules: GateRules) -> Found:
    nameless = measured.rows_without_lineage
    if nameless is None:
        return unmeasured(["lineage"])
    strays = f"{rows(nameless)} without run, code or input that made them; stage the day again"
    return Found(expected="0", found=said(nameless), strays=strays if nameless else "")


def rejects_bounded(measured: PartitionMeasurement, rules: GateRules) -> Found:
    rejected = measured.rejected
    if rejected is None:
        return unmeasured(["rows that were set aside"])
    found, most = sum(rejected.values()), rules.rejects_most
    causes = [f"{rows(found)} set aside ({listed(dict(sorted(rejected.items())))})"]
    remedy = f"{most:,} may be; look at them beside the run and correct the input or the rule"
    return Found(
        expected=f"{most:,} at most",
        found=said(found),
        figures=counted(rejected, most=most),
        strays=with_remedy(causes, remedy) if found > most else "",
    )
