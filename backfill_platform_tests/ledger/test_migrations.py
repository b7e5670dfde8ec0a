"""Migrations: one head, up and down and up again, no difference to the tables in the code."""

import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from backfill_platform.domain.day_notation import parse_days
from backfill_platform.domain.errors import PartitionsHeld, SetupIncomplete
from backfill_platform.domain.identity import RunId
from backfill_platform.ledger import migrate as migrations
from backfill_platform.ledger.database import make_engine, opened, reading, writing
from backfill_platform.ledger.migrate import current_revision, head_revision, migrate
from backfill_platform.ledger.revisions import KNOWN_REVISIONS, sqlite_path
from backfill_platform.ledger.schema import metadata
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.databases import empty_database
from backfill_platform_tests.ledger.samples import january, register
from backfill_platform_tests.ledger.tampering import TRIGGERS
from backfill_platform_tests.racing import run_together

FIRST_FORMAT = (
    '{"target":{"partitions":[{"start":"2025-01-01","end_exclusive":"2025-01-04"},'
    '{"start":"2025-02-01","end_exclusive":"2025-02-02"}]}}'
)
SECOND_FORMAT = (
    '{"target":{"partitions":{"ranges":[{"start":"2025-01-01","end_exclusive":"2025-01-04"}]}},'
    '"valid_until":"2026-07-07T09:00:00+00:00"}'
)
AT = "2026-07-04 09:00:00"
VERDICT = (
    "INSERT INTO verdict (run_id, day, gate, outcome, expected, found, message, judged_at) VALUES"
)


@pytest.fixture
def url(empty_url: str) -> str:
    return empty_url


def migrate_to(url: str, revision: str) -> None:
    path = sqlite_path(url)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    with opened(url) as engine, writing(engine) as connection:
        command.upgrade(migrations.migration_config(connection), revision)


def insert_run(url: str, manifest_json: str) -> None:
    """As the first revision knew it."""
    run_on(
        url,
        "INSERT INTO run (run_id, group_id, origin, table_name, kind, mode, transform_version, "
        "state, manifest_json, manifest_digest, actor, reason, planned_at, updated_at) VALUES "
        "('bf-1', 'g', 'o', 't', 'BACKFILL', 'BACKFILL', '1.0.0', 'STAGING', "
        f"'{manifest_json}', 'd', 'ana', 'r', '2026-07-04 09:00:00', '2026-07-04 09:00:00')",
    )


def triggers(url: str) -> list[str]:
    with opened(url) as engine, reading(engine) as connection:
        rows = connection.execute(sa.text(TRIGGERS[engine.dialect.name])).all()
    return sorted(row[0] for row in rows)


def checks(url: str) -> dict[str, list[tuple[str | None, str]]]:
    engine = make_engine(url)
    inspector = sa.inspect(engine)
    found = {table: inspector.get_check_constraints(table) for table in metadata.tables}
    engine.dispose()
    return {
        table: sorted((each["name"], each["sqltext"]) for each in constraints)
        for table, constraints in found.items()
    }


def run_on(url: str, statement: str) -> Any:
    """The first value, where there is one."""
    with opened(url) as engine, writing(engine) as connection:
        result = connection.exec_driver_sql(statement)
        return result.scalar() if result.returns_rows else None


def test_there_is_one_head() -> None:
    assert ScriptDirectory(str(migrations.MIGRATIONS)).get_heads() == [head_revision()]


def test_looking_creates_nothing(tmp_path: Path) -> None:
    assert current_revision(f"sqlite:///{tmp_path}/a/folder/ledger.db") is None
    assert list(tmp_path.iterdir()) == []


def test_an_empty_database_has_no_revision(url: str) -> None:
    assert current_revision(url) is None


def test_the_known_revisions_are_alembics() -> None:
    """They are literal, so that opening a ledger does not wait for Alembic's import."""
    scripts = ScriptDirectory(str(migrations.MIGRATIONS)).walk_revisions()
    assert tuple(script.revision for script in scripts)[::-1] == KNOWN_REVISIONS


def test_opening_a_ledger_does_not_import_alembic() -> None:
    program = "import backfill_platform.ledger.store, sys; sys.exit('alembic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_migrating_creates_the_folder_and_leads_to_the_head(url: str) -> None:
    migrate(url)
    assert current_revision(url) == head_revision()


def test_migrating_twice_equals_once(url: str) -> None:
    migrate(url)
    migrate(url)
    assert current_revision(url) == head_revision()


def test_processes_that_migrate_together_both_succeed(url: str) -> None:
    assert run_together([partial(migrate, url)] * 3) == [None, None, None]
    assert current_revision(url) == head_revision()


def test_down_and_up_again_leads_to_the_same_tables(url: str) -> None:
    migrate(url)
    before = (checks(url), triggers(url))
    engine = make_engine(url)
    with writing(engine) as connection:
        command.downgrade(migrations.migration_config(connection), "base")
    left = sa.inspect(engine).get_table_names()
    engine.dispose()
    migrate(url)
    assert left == ["alembic_version"]
    assert (checks(url), triggers(url)) == before


def test_one_step_down_and_up_again_keeps_the_runs(url: str) -> None:
    migrate_to(url, "0001")
    at_first = triggers(url)
    insert_run(url, FIRST_FORMAT)
    migrate(url)
    with opened(url) as engine, writing(engine) as connection:
        command.downgrade(migrations.migration_config(connection), "0001")
    assert triggers(url) == at_first
    migrate(url)
    assert run_on(url, "SELECT days FROM run") == "2025-01-01..2025-01-03, 2025-02-01"


@pytest.mark.parametrize(
    ("manifest_json", "days", "valid_until"),
    [
        (FIRST_FORMAT, "2025-01-01..2025-01-03, 2025-02-01", None),
        (SECOND_FORMAT, "2025-01-01..2025-01-03", datetime(2026, 7, 7, 9, tzinfo=UTC)),
    ],
)
def test_the_days_of_earlier_runs_are_read_from_their_manifests(
    url: str, manifest_json: str, days: str, valid_until: datetime | None
) -> None:
    migrate_to(url, "0001")
    insert_run(url, manifest_json)
    migrate(url)
    with closing(Ledger.open(url)) as ledger:
        run = ledger.run(RunId("bf-1"))
    assert (run.days, run.valid_until) == (parse_days(days), valid_until)


@pytest.mark.parametrize("manifest_json", ["{}", "[]", "gone", '{"target":{"partitions":[{}]}}'])
def test_a_run_whose_days_cannot_be_read_holds_all_of_its_table(
    url: str, manifest_json: str
) -> None:
    migrate_to(url, "0001")
    insert_run(url, manifest_json)
    migrate(url)
    with (
        closing(Ledger.open(url)) as ledger,
        pytest.raises(PartitionsHeld, match="did not record by bf-1"),
    ):
        register(ledger, table="t", days=january(1))


@pytest.mark.parametrize("outcome", ["WARNED", "HELD"])
def test_a_version_that_cannot_hold_takes_for_negative_what_is_not_passed(
    url: str, outcome: str
) -> None:
    migrate_to(url, "0001")
    insert_run(url, FIRST_FORMAT)
    run_on(url, f"{VERDICT} ('bf-1', '2025-01-01', 'key_unique', 'PASSED', '', '', '', '{AT}')")
    migrate(url)
    run_on(url, f"{VERDICT} ('bf-1', '2025-01-02', 'key_unique', '{outcome}', '', '', '', '{AT}')")
    with opened(url) as engine, writing(engine) as connection:
        command.downgrade(migrations.migration_config(connection), "0005")
        rows = connection.exec_driver_sql("SELECT outcome FROM verdict ORDER BY day").all()
    assert [row[0] for row in rows] == ["PASSED", "FAILED"]


def test_autogenerate_finds_no_difference(url: str) -> None:
    migrate(url)
    engine = make_engine(url)
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
    engine.dispose()
    assert differences == []


def test_the_checks_hold_the_words_of_the_domain(url: str) -> None:
    """Autogenerate does not look at CHECKs, and the migration's words are literal."""
    migrate(url)
    with empty_database(sa.make_url(url).get_backend_name()) as declared:
        migrate_to(declared, "base")
        with opened(declared) as engine, writing(engine) as connection:
            metadata.create_all(connection)
        assert checks(url) == checks(declared)


def test_a_ledger_that_is_not_there_names_the_set_up(url: str) -> None:
    with pytest.raises(SetupIncomplete, match="backfill setup"):
        Ledger.open(url)


def test_a_ledger_of_a_newer_version_is_refused(url: str) -> None:
    migrate(url)
    run_on(url, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(SetupIncomplete, match="newer version"):
        migrate(url)
    with pytest.raises(SetupIncomplete, match="newer version"):
        Ledger.open(url)
    assert current_revision(url) == "9999"
