"""A policy, a run and decisions on it, and a verifier that knows two words."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import backfill_platform
from backfill_platform.domain.approvals import (
    Approval,
    ConsentPoint,
    Decision,
    ProposedChange,
    Requirement,
)
from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.modes import RunKind
from backfill_platform.governance.policy import Policy
from backfill_platform.governance.policy_file import read_policy

SHIPPED = Path(backfill_platform.__file__).parent.parent / "governance.yaml"

DIGEST = "8d91ab7c" * 8
NOW = datetime(2026, 7, 4, 12, tzinfo=UTC)
RIGHT = "a right signature"

POLICY_TEXT = """\
plan_valid_hours: 72
principals:
  ada: {roles: [lead, manager]}
  ben: {roles: [lead]}
  cleo: {roles: [manager]}
  dan: {roles: [lead], revoked: true}
rules:
  - name: all
    when: otherwise
    ask: {roles: [manager, lead], before: STAGING, signed: true, valid_hours: 24}
    notify: [owners]
rates:
  default: {low: 0.50, high: 3.00}
"""

POLICY = read_policy(POLICY_TEXT, origin="governance.yaml")

REQUIREMENT = Requirement(
    rule="all",
    roles=("manager", "lead"),
    before=ConsentPoint.STAGING,
    signed=True,
    valid_hours=24,
    notify=("owners",),
)

CHANGE = ProposedChange(
    table="silver.case_sla_daily",
    layer="silver",
    kind=RunKind.RESTATEMENT,
    partitions=31,
    is_full=False,
    rows_read=1_000_000,
    cost_usd=Decimal("2"),
    replaces_accepted=True,
)

YES = Approval(
    run_id=RunId("bf-20260704-case_sla_daily-3.1.0-001"),
    manifest_digest=DIGEST,
    principal="ben",
    role="lead",
    decision=Decision.APPROVED,
    reason="",
    decided_at=NOW,
    expires_at=NOW + timedelta(hours=24),
    signature=RIGHT,
)


def change(**differing: Any) -> ProposedChange:
    return replace(CHANGE, **differing)


def say(principal: str, role: str, **differing: Any) -> Approval:
    return replace(YES, principal=principal, role=role, **differing)


def verify(approval: Approval) -> str:
    if approval.signature != RIGHT:
        raise ApprovalRefused("the signature is wrong")
    return "SHA256:right"


def policy_with(old: str, new: str) -> Policy:
    assert old in POLICY_TEXT
    return read_policy(POLICY_TEXT.replace(old, new), origin="governance.yaml")
