"""The gates of a table as blocking asset checks on its staging asset.

They stop a Dagster run early and fill the dashboard. They are not the lock: the engine refuses to
publish without stored positive verdicts, whoever asks and from whichever run.
"""

from collections.abc import Iterator, Sequence

import dagster as dg

from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.verdicts import Gate, Verdict
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration.failures import told_to_dagster
from backfill_platform.orchestration.keys import staging_key
from backfill_platform.orchestration.launches import find_launched_run
from backfill_platform.orchestration.partitions import step_days

DESCRIPTIONS = {
    Gate.PARTITIONS_COMPLETE: "Every day of the chunk is staged.",
    Gate.ROWS_PRESENT: "No day is empty, unless the table may be.",
    Gate.KEY_UNIQUE: "No two rows of a day share the key.",
    Gate.SCHEMA_CONTRACT: "Nulls and values are as the table's pandera model demands.",
    Gate.RECONCILED: "Declared measures agree between the inputs and the output, to the row.",
    Gate.PRIVACY_KEPT: "No row is about a listed subject, and no masked column shows raw values.",
}


def make_gate_checks(platform: Platform, spec: TableSpec) -> dg.AssetChecksDefinition:
    @dg.multi_asset_check(
        name=f"judge_{spec.layer}_{spec.name}",
        specs=[
            dg.AssetCheckSpec(
                name=gate.value,
                asset=staging_key(spec),
                description=DESCRIPTIONS[gate],
                blocking=True,
            )
            for gate in DESCRIPTIONS
        ],
    )
    def judge(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        with told_to_dagster():
            manifest = find_launched_run(context.run, platform, spec)
            verdicts = platform.ledger.verdicts(
                manifest.run_id, step_days(context.op_execution_context)
            )
        for gate in DESCRIPTIONS:
            yield _result(spec, gate, [verdict for verdict in verdicts if verdict.gate is gate])

    return judge


def _result(spec: TableSpec, gate: Gate, verdicts: Sequence[Verdict]) -> dg.AssetCheckResult:
    failed = [verdict for verdict in verdicts if not verdict.has_passed]
    return dg.AssetCheckResult(
        passed=bool(verdicts) and not failed,
        check_name=gate.value,
        asset_key=staging_key(spec),
        description=_sentence(verdicts, failed),
        metadata={
            "partitions": len(verdicts),
            "failed partitions": len(failed),
            "owner": spec.owner,
            "figures": _table(failed or verdicts),
        },
    )


def _sentence(verdicts: Sequence[Verdict], failed: Sequence[Verdict]) -> str:
    if not verdicts:
        return "No verdict is stored for these partitions; nothing may be published."
    if not failed:
        return f"All {len(verdicts)} partitions passed."
    worst = failed[0]
    return f"{len(failed)} of {len(verdicts)} partitions failed; {worst.day}: {worst.message}."


def _table(verdicts: Sequence[Verdict]) -> dg.TableMetadataValue:
    return dg.MetadataValue.table(
        [
            dg.TableRecord(
                {
                    "partition": verdict.day.isoformat(),
                    "verdict": verdict.outcome.value,
                    "expected": verdict.expected,
                    "found": verdict.found,
                    "message": verdict.message,
                }
            )
            for verdict in verdicts
        ]
    )
