"""Every job; what is not listed here nobody can launch."""

import dagster as dg

from backfill_platform.orchestration.jobs.acting import Desk
from backfill_platform.orchestration.jobs.deciding import (
    make_approve_job,
    make_reject_job,
    make_review_job,
)
from backfill_platform.orchestration.jobs.looking import make_compare_job, make_reproduce_job
from backfill_platform.orchestration.jobs.planning import make_plan_job
from backfill_platform.orchestration.jobs.publishing import make_publish_job, make_roll_back_job
from backfill_platform.orchestration.jobs.stopping import make_cancel_job

_MAKERS = (
    make_plan_job,
    make_approve_job,
    make_reject_job,
    make_review_job,
    make_publish_job,
    make_roll_back_job,
    make_compare_job,
    make_reproduce_job,
    make_cancel_job,
)


def make_jobs(desk: Desk) -> list[dg.JobDefinition]:
    return [make(desk) for make in _MAKERS]
