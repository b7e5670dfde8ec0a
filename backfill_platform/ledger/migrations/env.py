"""Alembic's entry: runs the migrations on the connection, and in the transaction, it is handed."""

from alembic import context

from backfill_platform.ledger.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
