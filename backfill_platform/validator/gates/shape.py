"""Whether what was landed and staged has the columns that the table declares; not their values."""

from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.validator.gates.facts import Found, unmeasured
from backfill_platform.validator.gates.rules import GateRules
from backfill_platform.validator.gates.wording import counted_in, with_remedy

_REMEDY = "have it delivered as declared, or declare the change and plan again"


def schema_contract(measured: PartitionMeasurement, _rules: GateRules) -> Found:
    problems = measured.shape_problems
    if problems is None:
        return unmeasured(["the shape of what was landed and staged"])
    return Found(
        expected="as declared",
        found=counted_in("difference", len(problems)) if problems else "as declared",
        strays=with_remedy(problems, _REMEDY),
    )
