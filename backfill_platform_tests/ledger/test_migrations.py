"""Migrations: one head, up and down and up again, no difference to the tables in the code."""

from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from backfill_platform.domain.errors import SetupIncomplete
from backfill_platform.ledger import migrate as migrations
from backfill_platform.ledger.database import make_engine, writing
from backfill_platform.ledger.migrate import current_revision, head_revision, migrate
from backfill_platform.ledger.schema import metadata
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.racing import run_together


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/a/folder/ledger.db"


def checks(url: str) -> dict[str, list[tuple[str | None, str]]]:
    engine = make_engine(url)
    inspector = sa.inspect(engine)
    found = {table: inspector.get_check_constraints(table) for table in metadata.tables}
    engine.dispose()
    return {
        table: sorted((each["name"], each["sqltext"]) for each in constraints)
        for table, constraints in found.items()
    }


def run_on(url: str, statement: str) -> None:
    engine = make_engine(url)
    with writing(engine) as connection:
        connection.execute(sa.text(statement))
    engine.dispose()


def test_there_is_one_head() -> None:
    assert ScriptDirectory(str(migrations.MIGRATIONS)).get_heads() == [head_revision()]


def test_looking_creates_nothing(url: str, tmp_path: Path) -> None:
    assert current_revision(url) is None
    assert list(tmp_path.iterdir()) == []


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
    before = checks(url)
    engine = make_engine(url)
    with writing(engine) as connection:
        command.downgrade(migrations.migration_config(connection), "base")
    left = sa.inspect(engine).get_table_names()
    engine.dispose()
    migrate(url)
    assert left == ["alembic_version"]
    assert checks(url) == before


def test_autogenerate_finds_no_difference(url: str) -> None:
    migrate(url)
    engine = make_engine(url)
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
    engine.dispose()
    assert differences == []


def test_the_checks_hold_the_words_of_the_domain(url: str, tmp_path: Path) -> None:
    """Autogenerate does not look at CHECKs, and the migration's words are literal."""
    migrate(url)
    declared = f"sqlite:///{tmp_path}/declared.db"
    engine = make_engine(declared)
    with writing(engine) as connection:
        metadata.create_all(connection)
    engine.dispose()
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
