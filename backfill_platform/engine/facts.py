"""Gathers what the planner must know: inputs, target, code, configuration, reference data.

No JVM: Delta logs, file listings and source code are read directly.
"""

import hashlib
import json
import subprocess

from backfill_platform.domain.intents import Intent
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import Input, TableSpec
from backfill_platform.domain.transforms import TransformVersion
from backfill_platform.engine.code import code_digest, code_folder
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.planner.facts import Facts, InputFacts, TargetFacts
from backfill_platform.planner.scope import (
    choose_references,
    choose_transform,
    input_days,
    input_window,
)
from backfill_platform.sources.files import list_files


def gather_facts(platform: Platform, intent: Intent, spec: TableSpec) -> Facts:
    transform = choose_transform(spec, intent.transform_version)
    assert transform is not None, "check_intent refuses an unknown version first"
    return Facts(
        now=platform.clock(),
        inputs={used.name: _input_facts(platform, intent, used) for used in spec.inputs},
        reference_digests={
            name: reference_digest(platform, name, choice.version)
            for name, choice in choose_references(spec, intent).items()
        },
        target=_target_facts(platform, intent),
        code_digest=code_digest(transform.function),
        config_hash=config_hash(spec),
        git_commit=_git_commit(transform),
    )


def reference_digest(platform: Platform, name: str, version: str) -> str:
    reference = platform.catalog.references[name]
    known = next(known for known in reference.versions if known.version == version)
    return hashlib.sha256(known.path.read_bytes()).hexdigest()


def config_hash(spec: TableSpec) -> str:
    return hashlib.sha256(json.dumps(dict(spec.config), sort_keys=True).encode()).hexdigest()


def _input_facts(platform: Platform, intent: Intent, used: Input) -> InputFacts:
    days = input_days(intent.days, input_window(used, intent.knowledge))
    if used.name in platform.catalog.sources:
        return _file_facts(platform, used.name, days)
    return _table_facts(platform, used.name, days)


def _file_facts(platform: Platform, source: str, days: DayRange) -> InputFacts:
    listing = list_files(platform.landing, platform.catalog.sources[source], days)
    return InputFacts(snapshot=listing.snapshot, days_present=listing.days, files=listing.digests)


def _table_facts(platform: Platform, table: str, days: DayRange) -> InputFacts:
    state = read_table_state(platform.warehouse.table_path(table), PartitionSet.of_range(days))
    if state is None:
        return InputFacts(snapshot="", days_present=None, files={})
    held = PartitionSet.of_days(state.files) if state.files else None
    return InputFacts(snapshot=str(state.version), days_present=held, files={})


def _target_facts(platform: Platform, intent: Intent) -> TargetFacts:
    state = read_table_state(platform.warehouse.table_path(intent.table), intent.days)
    if state is None:
        return TargetFacts(version=None, fingerprints={})
    return TargetFacts(version=state.version, fingerprints=state.fingerprints)


def _git_commit(transform: TransformVersion) -> str | None:
    """The commit that is checked out where the transform's code lies, if there is one."""
    asked = subprocess.run(
        ["git", "-C", str(code_folder(transform.function)), "rev-parse", "--short=12", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip() or None
