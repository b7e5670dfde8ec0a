"""What is deployed here: a transform's code, its commit and configuration, every distribution."""

import hashlib
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.privacy import NOTHING_PRIVATE
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.transforms import TransformVersion
from backfill_platform.engine.plan.code import code_digest, code_files, code_folder
from backfill_platform.engine.plan.determinism import find_nondeterminism
from backfill_platform.engine.plan.run_words import find_run_words
from backfill_platform.planner.facts import CodeFacts


def code_facts(transform: TransformVersion, spec: TableSpec, *, container_image: str) -> CodeFacts:
    folder = code_folder(transform.function)
    commit = _git(folder, "rev-parse", "--short=12", "HEAD")
    files = [str(path) for path in code_files(transform.function)]
    changed = _git(folder, "status", "--porcelain", "--", *files) if commit else None
    return CodeFacts(
        digest=code_digest(transform.function),
        config_hash=config_hash(spec),
        git_commit=commit or None,
        is_committed=None if changed is None else changed == "",
        container_image=container_image or None,
        lock_digest=lock_digest(),
        moving=find_nondeterminism(transform.function),
        run_words=find_run_words(transform.function),
    )


def config_hash(spec: TableSpec) -> str:
    """What is left out, masked and merged belongs to it: without, the same transform gives other
    rows."""
    document: object = dict(spec.config)
    if spec.privacy != NOTHING_PRIVATE:
        document = [document, to_plain(spec.privacy), spec.classification]
    if spec.merge is not None:
        document = [document, to_plain(spec.merge), spec.keys]
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


@cache
def lock_digest() -> str:
    """Over what is installed, and not over a file that says what should be.

    An installer names each distribution and its version in the name of one folder; reading the
    metadata in them would take longer than all the rest of planning.
    """
    places = (Path(place) for place in dict.fromkeys(sys.path) if Path(place).is_dir())
    installed = {found.name for place in places for found in place.glob("*.dist-info")}
    return hashlib.sha256("\n".join(sorted(installed)).encode()).hexdigest()


def _git(folder: Path, *arguments: str) -> str | None:
    """What git answers, or nothing where there is no repository or no git."""
    try:
        asked = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return asked.stdout.strip() if asked.returncode == 0 else None
