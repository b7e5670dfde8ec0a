"""What is measured, in this order: planner, sensors, ledger, publisher.

A look may have to be prepared, in another process; what it is handed is the id of a run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import dagster as dg

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.alerts.delivering import deliver_alerts
from backfill_platform.engine.alerts.raising import raise_alerts
from backfill_platform.engine.carry_out.progress import begin_staging
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.gaps.finding import find_gaps
from backfill_platform.engine.gaps.memory import GapMemory
from backfill_platform.engine.gaps.repairing import repair_gaps, startable_repairs
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.look.exposing import write_exposition
from backfill_platform.engine.look.status import read_status
from backfill_platform.engine.plan.planning import draft_manifest, plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import publish_partitions
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.engine.tell.lineage import tell_lineage
from backfill_platform.engine.watch.daily import find_daily_load
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.orchestration.sensors.downstream import look_downstream
from backfill_platform.orchestration.sensors.expiring import look_for_overdue
from backfill_platform.orchestration.sensors.looks import Look as SensorLook
from backfill_platform.orchestration.sensors.publishing import look_for_ready
from backfill_platform.orchestration.sensors.recovering import look_for_dead
from backfill_platform.planner.rollback_facts import RollbackRequest
from benchmarks.scale.catalog import chain_tables
from benchmarks.scale.logs import FILE_BYTES
from benchmarks.scale.shapes import Place
from benchmarks.scale.staged import claim, stage_run
from benchmarks.world import intent

BRONZE, SILVER, GOLD, *_ = chain_tables(0)
MONTH = 30
_MANY_CHUNKS = 300  # days, of which several chunks can be claimed

Call = Callable[[Platform, Place, RunId], object]
Prepare = Callable[[Platform, Place], RunId]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    area: str
    name: str
    call: Call
    prepare: Prepare | None = None
    goes_on_after: str = ""  # the look whose run it is handed
    again: int = 2  # how often it is repeated in the same process


def _month(place: Place) -> DayRange:
    end = place.days.end_exclusive
    return DayRange(end - timedelta(days=MONTH), end)


def _draft(table: str, days: Callable[[Place], DayRange]) -> Call:
    return lambda platform, place, _: draft_manifest(platform, intent("draft", days(place), table))


def _all(place: Place) -> DayRange:
    return place.days


def _staged(table: str, days: Callable[[Place], DayRange]) -> Prepare:
    def prepare(platform: Platform, place: Place) -> RunId:
        for other in (BRONZE, SILVER):
            _lay_files(platform, other)
        manifest = plan_run(platform, intent(f"stage:{table}", days(place), table))
        stage_run(platform, manifest, with_files=True)
        return manifest.run_id

    return prepare


def _lay_files(platform: Platform, table: str) -> None:
    """What the table's log names, empty: a rollback looks whether its files are still there."""
    path = platform.warehouse.table_path(table)
    state = read_table_state(path, None)
    for files in state.files.values() if state else ():
        for file in files:
            _lay_file(path / file.path)


def _lay_file(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as sparse:
        sparse.truncate(FILE_BYTES)


def _begun(platform: Platform, place: Place) -> RunId:
    days = DayRange(place.days.start, place.days.start + timedelta(days=_MANY_CHUNKS))
    manifest = plan_run(platform, intent("claim", days, GOLD))
    start_run(platform, manifest.run_id)
    begin_staging(platform, manifest)
    return manifest.run_id


def _claim(platform: Platform, place: Place, run_id: RunId) -> object:
    manifest = load_manifest(platform, run_id)
    return claim(platform, manifest, manifest.chunks[len(platform.ledger.chunks(run_id))])


def _publish(platform: Platform, place: Place, run_id: RunId) -> object:
    return publish_partitions(platform, run_id, _partitions(platform, run_id))


def _partitions(platform: Platform, run_id: RunId) -> PartitionSet:
    return load_manifest(platform, run_id).target.partitions


def _plan_back(platform: Platform, place: Place, run_id: RunId) -> Manifest:
    return plan_rollback(
        platform,
        RollbackRequest(run_id=run_id, days=None, reason="a benchmark", requested_by="benchmarks"),
    )


def _roll_back(platform: Platform, place: Place, run_id: RunId) -> object:
    return roll_back(platform, _plan_back(platform, place, run_id).run_id)


def _newest_run(platform: Platform) -> RunId:
    return platform.ledger.runs(BRONZE, limit=1)[0].run_id


def _sensor(look: SensorLook) -> Call:
    def call(platform: Platform, place: Place, run_id: RunId) -> object:
        with dg.DagsterInstance.ephemeral() as instance:
            return look(platform, instance, None)

    return call


def _gap_sensor() -> Call:
    """With a memory, as the sensor has one; its ticks may leave tables to the next one."""
    memory = GapMemory()

    def call(platform: Platform, place: Place, run_id: RunId) -> object:
        while repair_gaps(platform, memory=memory).left:
            pass
        return startable_repairs(platform)

    return call


def _alert(platform: Platform, place: Place, run_id: RunId) -> object:
    return raise_alerts(platform), deliver_alerts(platform)


def _metrics(platform: Platform, place: Place, run_id: RunId) -> object:
    path = place.home / "metrics" / "backfill.prom"
    return write_exposition(platform.ledger, platform.clock, path)


def _status(platform: Platform, place: Place, run_id: RunId) -> object:
    return read_status(platform.ledger, run_id, platform.clock())


LOOKS = (
    Look(area="planner", name="plan 30 days from files", call=_draft(BRONZE, _month)),
    Look(area="planner", name="plan all days from files", call=_draft(BRONZE, _all)),
    Look(area="planner", name="plan 30 days from a table", call=_draft(SILVER, _month)),
    Look(area="planner", name="plan all days from a table", call=_draft(SILVER, _all)),
    Look(area="sensors", name="find gaps", call=lambda platform, *_: find_gaps(platform), again=0),
    Look(area="sensors", name="gaps", call=_gap_sensor()),
    Look(area="sensors", name="publish_what_is_ready", call=_sensor(look_for_ready)),
    Look(area="sensors", name="restate_downstream", call=_sensor(look_downstream)),
    Look(area="sensors", name="recover_what_died", call=_sensor(look_for_dead)),
    Look(area="sensors", name="expire_plans", call=_sensor(look_for_overdue)),
    Look(area="sensors", name="alerts", call=_alert),
    Look(area="sensors", name="metrics", call=_metrics),
    Look(
        area="sensors",
        name="lineage",
        call=lambda platform, *_: tell_lineage(platform, lambda events: None),
    ),
    Look(
        area="sensors",
        name="daily_live",
        call=lambda platform, place, _: find_daily_load(platform, place.days.last),
    ),
    Look(area="ledger", name="claim a chunk", call=_claim, prepare=_begun),
    Look(
        area="ledger",
        name="status of a run of 30 days",
        call=lambda platform, place, _: _status(platform, place, _newest_run(platform)),
    ),
    Look(
        area="ledger",
        name="status of a run of all days",
        call=_status,
        prepare=_staged(SILVER, _all),
    ),
    Look(
        area="ledger",
        name="accepted, 30 days",
        call=lambda platform, place, _: platform.ledger.accepted(SILVER, _month(place)),
    ),
    Look(
        area="ledger",
        name="accepted, all days",
        call=lambda platform, place, _: platform.ledger.accepted(SILVER, place.days),
    ),
    Look(
        area="ledger",
        name="list 100 runs",
        call=lambda platform, *_: platform.ledger.runs(limit=100),
    ),
    Look(
        area="ledger",
        name="list 100 runs of a table",
        call=lambda platform, *_: platform.ledger.runs(SILVER, limit=100),
    ),
    Look(
        area="ledger",
        name="verdicts of a run of all days",
        call=lambda platform, place, run_id: platform.ledger.verdicts(run_id),
        goes_on_after="status of a run of all days",
    ),
    Look(
        area="publisher",
        name="publish 30 days",
        call=_publish,
        prepare=_staged(BRONZE, _month),
        again=0,
    ),
    Look(
        area="publisher",
        name="roll 30 days back",
        call=_roll_back,
        goes_on_after="publish 30 days",
        again=0,
    ),
    Look(
        area="publisher",
        name="publish all days",
        call=_publish,
        goes_on_after="status of a run of all days",
        again=0,
    ),
    Look(
        area="publisher",
        name="roll all days back",
        call=_roll_back,
        goes_on_after="status of a run of all days",
        again=0,
    ),
)
