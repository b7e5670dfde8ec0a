"""The shapes that consumers of the enforcement tables rely on.

Checks are pandera's built-in ones, which the platform measures in its one pass over staged data.
What a landed file may contain is kept loose: a wrong row must reach the gates to be shown there.
"""

import pyspark.sql.types as T
from pandera.pyspark import DataFrameModel, Field

from backfill_platform.enforcement.lifecycle import (
    CASE_CLASSES,
    EVENT_TYPES,
    JURISDICTIONS,
    CaseState,
    Operation,
)

_EVENT_TYPES = [event_type.value for event_type in EVENT_TYPES]
_STATES = [state.value for state in CaseState]
_OPERATIONS = [operation.value for operation in Operation]
_CASE_ID = r"^[A-Z]{2}-[A-Z]{2}-[0-9]{6}-[0-9]{7}$"
_EVENT_ID = r"^[A-Z]{2}-[A-Z]{2}-[0-9]{6}-[0-9]{7}-[0-9]{2}$"


class LandedCaseEvents(DataFrameModel):
    event_id: T.StringType = Field(nullable=True)
    case_id: T.StringType = Field(nullable=True)
    jurisdiction: T.StringType = Field(nullable=True)
    case_class: T.StringType = Field(nullable=True)
    event_type: T.StringType = Field(nullable=True)
    occurred_at: T.TimestampType = Field(nullable=True)
    effective_at: T.TimestampType = Field(nullable=True)
    source_version: T.IntegerType = Field(nullable=True)
    op: T.StringType = Field(nullable=True)
    emitted_at: T.TimestampType = Field(nullable=True)
    payload: T.StringType = Field(nullable=True)
    arrival_date: T.DateType = Field(nullable=False)


class CaseEvents(DataFrameModel):
    """bronze.case_events: what arrived on a day, exactly as it arrived."""

    arrival_date: T.DateType = Field(nullable=False)
    event_id: T.StringType = Field(nullable=False, str_matches=_EVENT_ID)
    source_version: T.IntegerType = Field(nullable=False, ge=1)
    delivery: T.IntegerType = Field(nullable=False, ge=1)
    case_id: T.StringType = Field(nullable=False, str_matches=_CASE_ID)
    jurisdiction: T.StringType = Field(nullable=False, isin=list(JURISDICTIONS))
    case_class: T.StringType = Field(nullable=False, isin=list(CASE_CLASSES))
    event_type: T.StringType = Field(nullable=False, isin=_EVENT_TYPES)
    occurred_at: T.TimestampType = Field(nullable=False)
    effective_at: T.TimestampType = Field(nullable=True)
    op: T.StringType = Field(nullable=False, isin=_OPERATIONS)
    emitted_at: T.TimestampType = Field(nullable=False)
    payload: T.StringType = Field(nullable=False, str_startswith="{")


class CaseSlaDaily(DataFrameModel):
    """silver.case_sla_daily: each case that is active on a business day, at the end of that day."""

    business_date: T.DateType = Field(nullable=False)
    case_id: T.StringType = Field(nullable=False)
    jurisdiction: T.StringType = Field(nullable=False, isin=list(JURISDICTIONS))
    case_class: T.StringType = Field(nullable=False, isin=list(CASE_CLASSES))
    state: T.StringType = Field(nullable=False, isin=_STATES)
    opened_at: T.TimestampType = Field(nullable=False)
    opened_on: T.DateType = Field(nullable=False)
    due_at: T.TimestampType = Field(nullable=False)
    paused_seconds: T.LongType = Field(nullable=False, ge=0)
    paused_business_days: T.IntegerType = Field(nullable=False, ge=0)
    escalated: T.BooleanType = Field(nullable=False)
    decided_at: T.TimestampType = Field(nullable=True)
    closed_at: T.TimestampType = Field(nullable=True)
    is_breached: T.BooleanType = Field(nullable=False)
    breach_at: T.TimestampType = Field(nullable=True)
    age_days: T.IntegerType = Field(nullable=False, ge=0)
    opened_today: T.BooleanType = Field(nullable=False)
    closed_today: T.BooleanType = Field(nullable=False)
    event_count: T.IntegerType = Field(nullable=False, ge=1)
    latest_source_version: T.IntegerType = Field(nullable=False, ge=1)


class SlaBreachesDaily(DataFrameModel):
    """gold.sla_breaches_daily: how many cases of each kind are open, overdue and paused."""

    business_date: T.DateType = Field(nullable=False)
    jurisdiction: T.StringType = Field(nullable=False, isin=list(JURISDICTIONS))
    case_class: T.StringType = Field(nullable=False, isin=list(CASE_CLASSES))
    open_cases: T.LongType = Field(nullable=False, ge=0)
    breached_cases: T.LongType = Field(nullable=False, ge=0)
    newly_breached: T.LongType = Field(nullable=False, ge=0)
    paused_cases: T.LongType = Field(nullable=False, ge=0)
