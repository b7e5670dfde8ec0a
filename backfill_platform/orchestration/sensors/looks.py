"""A look and its answer, and the sensor that asks for what the answer names.

Whatever a look finds, its answer is one value: Dagster stores requests and cursor together, so a
tick is done whole or not at all. A refusal of the platform is a reason to skip, with its sentence;
the cursor stays, and the next tick looks at the same again.
"""

from collections.abc import Callable
from dataclasses import dataclass

import dagster as dg

from backfill_platform.domain.errors import BackfillError
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration.sensors.requests import keys_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    said: str  # what was found or done, as a sentence
    requests: tuple[dg.RunRequest, ...] = ()
    cursor: str | None = None  # nothing leaves it as it was


Look = Callable[[Platform, dg.DagsterInstance, str | None], Answer]


def make_sensor(
    platform: Platform, *, name: str, description: str, every_seconds: int, look: Look
) -> dg.SensorDefinition:
    """Running from the beginning: who wants one of them not to move stops it in the UI."""

    def evaluate(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        try:
            answer = look(platform, context.instance, context.cursor)
        except BackfillError as refused:
            context.log.warning(f"{refused.code}: {refused}")
            return dg.SensorResult(skip_reason=f"{refused.code}: {refused}")
        if not answer.requests:
            return dg.SensorResult(skip_reason=answer.said, cursor=answer.cursor)
        context.log.info(answer.said)
        return dg.SensorResult(run_requests=list(answer.requests), cursor=answer.cursor)

    return dg.SensorDefinition(
        name=name,
        description=description,
        minimum_interval_seconds=every_seconds,
        evaluation_fn=evaluate,
        asset_selection=all_tables(platform),
        default_status=dg.DefaultSensorStatus.RUNNING,
    )


def all_tables(platform: Platform) -> dg.AssetSelection:
    specs = platform.catalog.tables.values()
    return dg.AssetSelection.assets(*(key for spec in specs for key in keys_of(spec)))
