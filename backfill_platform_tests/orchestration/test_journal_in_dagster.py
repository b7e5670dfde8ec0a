"""What the engine notes stands in Dagster's event log of the run in which it happens."""

from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import yaml

from backfill_platform.domain.journal import NO_SUBJECT, JournalLine, Level
from backfill_platform.settings import PROJECT
from backfill_platform.telemetry.json_lines import make_journal

LINE = JournalLine(
    event="chunk_staged",
    at=datetime(2026, 7, 4, 9, 0, tzinfo=UTC),
    level=Level.INFO,
    subject=NO_SUBJECT,
    figures={"output_records": 6},
)


def test_a_line_is_shown_with_the_run(tmp_path: Path) -> None:
    journal = make_journal(tmp_path / "a.jsonl", Level.INFO)

    @dg.op
    def noting() -> None:
        journal(LINE)

    @dg.job
    def at_work() -> None:
        noting()

    python_logs = yaml.safe_load((PROJECT / "dagster.yaml").read_text())["python_logs"]
    with dg.instance_for_test(
        overrides={"python_logs": python_logs}, temp_dir=str(tmp_path)
    ) as instance:
        run_id = at_work.execute_in_process(instance=instance).run_id
        said = [one.user_message for one in instance.all_logs(run_id)]
    assert "chunk_staged output_records=6" in said
