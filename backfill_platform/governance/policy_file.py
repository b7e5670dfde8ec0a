"""Reads the policy's file: its form is checked here, its sense in `policy_check`.

Whatever is wrong is one `DeclarationInvalid` that names the file, the line, the rule and the field.
Opening files does not belong here: the text is handed in.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
)
from yaml.nodes import Node

from backfill_platform.domain.approvals import ConsentPoint
from backfill_platform.domain.canonical import GREATEST_SAFE_INTEGER
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.estimates import CostRate
from backfill_platform.domain.limits import DailyWindow, Limits
from backfill_platform.domain.modes import RunKind
from backfill_platform.governance.conditions import Conditions
from backfill_platform.governance.policy import Policy, Principal, ReviewRule, Rule
from backfill_platform.governance.policy_check import find_problems
from backfill_platform.governance.repairs import RepairsPart, build_repairs
from backfill_platform.governance.retention import RetentionPart, build_retention
from backfill_platform.governance.strict_parts import WindowPart, sentence, word
from backfill_platform.governance.strict_yaml import find_line, read_yaml

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._@+-]*$")]
Text = Annotated[str, Field(min_length=1)]
Count = Annotated[StrictInt, Field(ge=1, le=GREATEST_SAFE_INTEGER)]
Bound = Annotated[StrictInt, Field(ge=0, le=GREATEST_SAFE_INTEGER)]
Money = Annotated[Decimal, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _PrincipalPart(_Part):
    roles: tuple[Name, ...] = Field(min_length=1)
    revoked: StrictBool = False


class _PartitionsPart(_Part):
    over: Bound | None = None
    under: Count | None = None


class _RowsPart(_Part):
    over: Bound


class _CostPart(_Part):
    over: Money


class _WhenPart(_Part):
    partitions: _PartitionsPart = _PartitionsPart()
    full: StrictBool | None = None
    tables: tuple[Text, ...] = Field((), min_length=1)
    layers: tuple[Name, ...] = Field((), min_length=1)
    kinds: tuple[RunKind, ...] = Field((), min_length=1)
    rows: _RowsPart | None = None
    cost_usd: _CostPart | None = None
    replaces_accepted: StrictBool | None = None


class _AskPart(_Part):
    roles: tuple[Name, ...] = Field(min_length=1)
    before: ConsentPoint
    signed: StrictBool = False
    valid_hours: Count


class _RulePart(_Part):
    name: Name
    when: Annotated[_WhenPart, word("otherwise", {})]
    ask: Annotated[_AskPart | None, word("nobody", None)]
    notify: tuple[Text, ...] = ()


class _RatePart(_Part):
    low: Money
    high: Money


class _LimitsPart(_Part):
    max_partitions_at_once: Count | None = None
    max_rows_per_minute: Count | None = None
    max_bytes_per_minute: Count | None = None
    max_commits_per_hour: Count | None = None
    pause_seconds: Bound = 0
    off_peak: WindowPart | None = None
    max_rows: Count | None = None
    max_cost_usd: Money | None = None


class _ReviewsPart(_Part):
    owners: StrictBool = True
    roles: tuple[Name, ...] = ()
    signed: StrictBool = False


class _PolicyPart(_Part):
    plan_valid_hours: Count
    principals: dict[Name, _PrincipalPart]
    rules: tuple[_RulePart, ...] = Field(min_length=1)
    rates: dict[Name, _RatePart]
    limits: _LimitsPart = _LimitsPart()
    retention: RetentionPart | None = None
    reviews: _ReviewsPart = _ReviewsPart()
    repairs: RepairsPart | None = None


def read_policy(text: str, *, origin: str) -> Policy:
    document, node = read_yaml(text, origin=origin)
    try:
        policy = _build(_PolicyPart.model_validate(document))
    except ValidationError as invalid:
        first = invalid.errors()[0]
        raise _refusal(origin, document, node, first["loc"], sentence(first)) from invalid
    for problem in find_problems(policy):
        raise _refusal(origin, document, node, problem.path, problem.message)
    return policy


def _refusal(
    origin: str, document: Any, node: Node | None, path: Sequence[str | int], problem: str
) -> DeclarationInvalid:
    subject = f"{origin}, line {find_line(node, path)}"
    match tuple(path):
        case ("rules", int(index), *rest) if rest:
            subject, fields = f"{subject}: rule {_rule_name(document, index)}", rest
        case ("principals" | "rates" as group, str(name), *rest) if rest:
            subject, fields = f"{subject}: {group.removesuffix('s')} {name!r}", rest
        case whole:
            fields = list(whole)
    field = ".".join(str(step) for step in fields) or "text"
    return DeclarationInvalid(subject=subject, field=field, problem=problem)


def _rule_name(document: Any, index: int) -> str:
    rule = cast(Sequence[Any], document["rules"])[index]
    name = cast(Mapping[str, Any], rule).get("name") if isinstance(rule, Mapping) else None
    return repr(name) if name else f"number {index + 1}"


def _build(part: _PolicyPart) -> Policy:
    return Policy(
        principals={
            name: Principal(roles=tuple(sorted(set(known.roles))), revoked=known.revoked)
            for name, known in part.principals.items()
        },
        rules=tuple(_build_rule(rule) for rule in part.rules),
        rates={
            layer: CostRate(low=_plain(rate.low), high=_plain(rate.high))
            for layer, rate in part.rates.items()
        },
        limits=_build_limits(part.limits),
        retention=build_retention(part.retention),
        reviews=ReviewRule(
            by_owners=part.reviews.owners, roles=part.reviews.roles, signed=part.reviews.signed
        ),
        repairs=build_repairs(part.repairs, _plain),
        plan_valid_hours=part.plan_valid_hours,
    )


def _build_rule(part: _RulePart) -> Rule:
    asked = part.ask
    return Rule(
        name=part.name,
        conditions=_build_conditions(part.when),
        roles=asked.roles if asked else (),
        before=asked.before if asked else ConsentPoint.PUBLICATION,
        signed=asked.signed if asked else False,
        valid_hours=asked.valid_hours if asked else 0,
        notify=part.notify,
    )


def _build_conditions(part: _WhenPart) -> Conditions:
    return Conditions(
        partitions_over=part.partitions.over,
        partitions_under=part.partitions.under,
        is_full=part.full,
        tables=part.tables,
        layers=part.layers,
        kinds=part.kinds,
        rows_over=part.rows.over if part.rows else None,
        cost_over_usd=_plain(part.cost_usd.over) if part.cost_usd else None,
        replaces_accepted=part.replaces_accepted,
    )


def _build_limits(part: _LimitsPart) -> Limits:
    given = part.model_dump(exclude={"off_peak", "max_cost_usd"})
    window, cost = part.off_peak, part.max_cost_usd
    return Limits(
        **given,
        off_peak=DailyWindow(start=window.start, end=window.end) if window else None,
        max_cost_usd=None if cost is None else _plain(cost),
    )


def _plain(amount: Decimal) -> Decimal:
    """0.50 and 0.5 are one amount, and must be one text under the digest."""
    return Decimal(f"{abs(amount).normalize():f}")
