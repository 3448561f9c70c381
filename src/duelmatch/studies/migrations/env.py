"""What Alembic runs for a migration: the steps, on the connection and in the transaction of the caller."""

from alembic import context

from duelmatch.studies.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
