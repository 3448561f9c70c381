"""The steps. One that has been released is never changed; a change of the tables is a new one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.engine import Connection

if TYPE_CHECKING:
    from alembic.config import Config


def revisions() -> list[str]:
    """Return the revisions of the tables that this version knows, the newest first: it works with that."""
    from alembic.script import ScriptDirectory

    return [step.revision for step in ScriptDirectory.from_config(_configuration()).walk_revisions()]


def upgrade_to(connection: Connection, revision: str) -> None:
    """Run the migrations that lead to a revision, or to the newest, "head"."""
    from alembic import command

    configuration = _configuration()
    configuration.attributes["connection"] = connection
    command.upgrade(configuration, revision)


def _configuration() -> Config:
    from alembic.config import Config

    configuration = Config()
    configuration.set_main_option("script_location", str(Path(__file__).parent))
    configuration.set_main_option("path_separator", "os")
    return configuration
