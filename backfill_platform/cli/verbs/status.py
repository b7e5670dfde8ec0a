"""Verb `status`: where a run stands and what to do next. Reads the ledger alone."""

from typing import Any

from backfill_platform.cli.candidate import candidate_path
from backfill_platform.cli.opening import find_run, open_ledger
from backfill_platform.cli.options import Json, Run
from backfill_platform.cli.output import emit, show, show_next
from backfill_platform.cli.status_screen import status_screen
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.plain import to_plain
from backfill_platform.engine.look.status import RunStatus, read_status


def status(run: Run, as_json: Json = False) -> None:
    """Show where a run stands, what it waits for, what it has taken, and what is next."""
    ledger, now = open_ledger(), utc_now()
    found = read_status(ledger, find_run(ledger, run).run_id, now)
    if as_json:
        emit(describe_status(found))
    else:
        show(status_screen(found, now))
        show_next(found.next_step.commands)


def describe_status(found: RunStatus) -> dict[str, Any]:
    """Without the manifest but for what it estimated: `show --json` gives it whole."""
    document = to_plain(found)
    estimate = document.pop("manifest")["estimate"]
    del document["run"]["manifest_json"]
    candidate = candidate_path(found.manifest)
    return {
        **document,
        "estimate": estimate,
        "publish_scope": found.manifest.target.publish_scope,
        "candidate": str(candidate) if candidate else None,
        "is_at_rest": found.is_at_rest,
    }
