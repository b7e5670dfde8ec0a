"""Who acts in a job: whom a proxy has signed in, or else whom the launchpad names.

Open source Dagster knows no users (docs/adr/0016). Whether that person may do it is the engine's to
say, by the policy; what the policy wants signed is signed on the command line.
"""

import dagster as dg

from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.orchestration import tags


def find_actor(run: dg.DagsterRun, acting_as: str, *, is_signed_in: bool) -> str:
    """`is_signed_in` says that a proxy tells who is; then nobody acts under another name."""
    said = acting_as.strip()
    if not is_signed_in:
        return said or _refuse("say who acts, in `acting_as`: it is recorded, and nobody else is")
    told = run.tags.get(tags.IDENTITY, "")
    if not told:
        return _refuse(
            "nobody is signed in: the request did not come through the proxy that "
            "BACKFILL_IDENTITY_HEADER counts on"
        )
    if said and said != told:
        return _refuse(f"{told} is signed in and `acting_as` says {said!r}; leave it out")
    return told


def _refuse(why: str) -> str:
    raise ApprovalRefused(f"Nothing was done: {why}")
