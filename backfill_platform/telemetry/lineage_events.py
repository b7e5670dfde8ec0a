"""A step of a run as an OpenLineage event: names, ids and facets; pure, and the same each time.

Ids are derived from the run's own, so telling a step twice tells of the same run. Datasets are
named below one namespace and carry where they lie as another name, which is what other tools that
watch the same storage call them.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

import attr
from openlineage.client.event_v2 import (
    InputDataset,
    Job,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
    set_producer,
)
from openlineage.client.facet_v2 import (
    DatasetFacet,
    OutputDatasetFacet,
    RunFacet,
    data_quality_metrics_dataset,
    dataset_version_dataset,
    error_message_run,
    job_type_job,
    output_statistics_output_dataset,
    parent_run,
    schema_dataset,
    storage_dataset,
    symlinks_dataset,
    test_run,
)

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lineage import Dataset, Happening, LineageStep, Written
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.verdicts import STRAYED, GateSeverity, Verdict

PRODUCER = "urn:backfill-platform"
set_producer(PRODUCER)  # of all facets; the client keeps it for the process
_IDS = uuid5(NAMESPACE_URL, PRODUCER)


@attr.define
class BackfillRunFacet(RunFacet):
    """What a run is to this platform, so that a number leads back to its manifest."""

    run: str
    group: str
    kind: str
    mode: str
    reason: str
    manifestDigest: str  # noqa: N815
    transform: str
    codeDigest: str  # noqa: N815
    partitions: str
    baseVersion: int | None  # noqa: N815
    inputVersions: dict[str, str]  # noqa: N815
    taking: int
    chunk: str | None = None
    attempt: int | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:backfill-platform:facet:BackfillRunFacet:1"


def run_uuid(run_id: RunId, taking: int) -> UUID:
    return uuid5(_IDS, f"{run_id}/{taking}")


def chunk_uuid(run_id: RunId, chunk_id: str, attempt: int) -> UUID:
    return uuid5(_IDS, f"{run_id}/{chunk_id}/{attempt}")


def to_event(step: LineageStep, namespace: str) -> RunEvent:
    return RunEvent(
        eventType=RunState(step.happening.value),
        eventTime=step.at.isoformat(),
        producer=PRODUCER,
        run=Run(runId=str(_uuid_of(step)), facets=_run_facets(step, namespace)),
        job=_job(step, namespace),
        inputs=[
            InputDataset(namespace=namespace, name=used.name, facets=_facets(used, namespace))
            for used in step.inputs
        ],
        outputs=[_output(step, namespace)],
    )


def _uuid_of(step: LineageStep) -> UUID:
    run_id = step.manifest.run_id
    if step.chunk is None:
        return run_uuid(run_id, step.taking)
    return chunk_uuid(run_id, step.chunk.chunk_id, step.chunk.attempt)


def _job(step: LineageStep, namespace: str) -> Job:
    kind = job_type_job.JobTypeJobFacet(
        processingType="BATCH",
        integration="BACKFILL_PLATFORM",
        jobType="RUN" if step.chunk is None else "CHUNK",
    )
    return Job(namespace=namespace, name=_job_name(step), facets={"jobType": kind})


def _job_name(step: LineageStep) -> str:
    table = step.manifest.target.table
    return table if step.chunk is None else f"{table}.chunk"


def _run_facets(step: LineageStep, namespace: str) -> dict[str, Any]:
    facets: dict[str, Any] = {"backfill": _own_facet(step)}
    if step.chunk is not None:
        facets["parent"] = parent_run.ParentRunFacet(
            run=parent_run.Run(runId=str(run_uuid(step.manifest.run_id, step.taking))),
            job=parent_run.Job(namespace=namespace, name=step.manifest.target.table),
        )
    if step.happening is Happening.FAIL:
        facets["errorMessage"] = _error(step.manifest)
    if step.verdicts:
        facets["test"] = test_run.TestRunFacet(tests=_tests(step.verdicts))
    return facets


def _own_facet(step: LineageStep) -> BackfillRunFacet:
    manifest, chunk = step.manifest, step.chunk
    return BackfillRunFacet(
        run=manifest.run_id,
        group=manifest.group_id,
        kind=manifest.kind.value,
        mode=manifest.mode.value,
        reason=manifest.reason,
        manifestDigest=step.manifest_digest,
        transform=f"{manifest.transform.name}/{manifest.transform.version}",
        codeDigest=manifest.transform.code_digest,
        partitions=str(manifest.target.partitions),
        baseVersion=manifest.target.base_version,
        inputVersions={pinned.name: pinned.snapshot for pinned in manifest.inputs},
        taking=step.taking,
        chunk=chunk.chunk_id if chunk else None,
        attempt=chunk.attempt if chunk else None,
    )


def _error(manifest: Manifest) -> error_message_run.ErrorMessageRunFacet:
    """What an exception says may quote rows, and stays in the ledger."""
    return error_message_run.ErrorMessageRunFacet(
        message=f"It failed; `backfill status {manifest.run_id}` tells why.",
        programmingLanguage="PYTHON",
    )


def _tests(verdicts: Iterable[Verdict]) -> list[test_run.TestExecution]:
    """One for each gate, over all days of the chunk."""
    by_gate = defaultdict[str, list[Verdict]](list)
    for verdict in verdicts:
        by_gate[verdict.gate.value].append(verdict)
    return [_test(gate, found) for gate, found in by_gate.items()]


def _test(gate: str, verdicts: list[Verdict]) -> test_run.TestExecution:
    stray = [verdict for verdict in verdicts if not verdict.has_passed]
    only_warned = all(verdict.outcome is STRAYED[GateSeverity.WARN] for verdict in stray)
    return test_run.TestExecution(
        name=gate,
        type=gate,
        status="fail" if stray else "pass",
        severity="warn" if stray and only_warned else "error",
        expected=f"{len(verdicts)} days pass",
        actual=f"{len(verdicts) - len(stray)} days pass",
    )


def _output(step: LineageStep, namespace: str) -> OutputDataset:
    facets = _facets(step.output, namespace)
    statistics: dict[str, OutputDatasetFacet] = {}
    if step.written is not None:
        facets["dataQualityMetrics"] = _metrics(step.written)
        statistics["outputStatistics"] = _statistics(step.written)
    return OutputDataset(
        namespace=namespace, name=step.output.name, facets=facets, outputFacets=statistics
    )


def _statistics(written: Written) -> OutputDatasetFacet:
    return output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
        rowCount=written.rows, size=written.bytes, fileCount=written.files
    )


def _metrics(written: Written) -> DatasetFacet:
    return data_quality_metrics_dataset.DataQualityMetricsDatasetFacet(
        columnMetrics={},
        rowCount=written.rows,
        bytes=written.bytes,
        fileCount=written.files,
    )


def _facets(dataset: Dataset, namespace: str) -> dict[str, DatasetFacet]:
    facets: dict[str, DatasetFacet] = {
        "storage": storage_dataset.StorageDatasetFacet(
            storageLayer="delta" if dataset.is_delta else "file",
            fileFormat="parquet",
        ),
        "symlinks": symlinks_dataset.SymlinksDatasetFacet(
            identifiers=[
                symlinks_dataset.Identifier(namespace="file", name=dataset.location, type="PATH"),
                symlinks_dataset.Identifier(namespace=namespace, name=dataset.table, type="TABLE"),
            ],
        ),
    }
    if dataset.columns:
        facets["schema"] = _schema(dataset)
    if dataset.version is not None:
        facets["version"] = dataset_version_dataset.DatasetVersionDatasetFacet(
            datasetVersion=dataset.version
        )
    return facets


def _schema(dataset: Dataset) -> schema_dataset.SchemaDatasetFacet:
    return schema_dataset.SchemaDatasetFacet(
        fields=[
            schema_dataset.SchemaDatasetFacetFields(
                name=column.name, type=column.type, ordinal_position=place
            )
            for place, column in enumerate(dataset.columns, start=1)
        ],
    )
