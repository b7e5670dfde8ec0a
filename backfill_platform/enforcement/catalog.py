"""All declarations of the enforcement domain, as the platform loads them."""

from backfill_platform.domain.catalog import Declarations
from backfill_platform.enforcement.bronze import CASE_EVENTS, CASE_EVENTS_LANDING
from backfill_platform.enforcement.gold import SLA_BREACHES_DAILY
from backfill_platform.enforcement.reference.editions import JURISDICTION_CALENDAR
from backfill_platform.enforcement.silver import CASE_SLA_DAILY

SOURCES = (CASE_EVENTS_LANDING,)
REFERENCES = (JURISDICTION_CALENDAR,)
TABLES = (CASE_EVENTS, CASE_SLA_DAILY, SLA_BREACHES_DAILY)

CATALOG = Declarations(sources=SOURCES, references=REFERENCES, tables=TABLES)
