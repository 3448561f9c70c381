"""The log with hashes: events by name, voters by random ids, and no table that only repeats the log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from duelmatch.studies.migrations.format_1 import converted

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Read everything, put new tables in the place of the old ones, and write everything as it is now."""
    studies, entries, voters, links = converted(op.get_bind())
    _drop_old_tables()
    _create_tables()
    for name, rows in (("studies", studies), ("entries", entries), ("voters", voters), ("links", links)):
        if rows:
            table = sa.Table(name, sa.MetaData(), autoload_with=op.get_bind(), resolve_fks=False)
            op.bulk_insert(table, rows, multiinsert=False)
    _append_only()


def _drop_old_tables() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for action in ("update", "delete"):
            op.execute(f"DROP TRIGGER entries_no_{action}")
    else:
        op.execute("DROP TRIGGER entries_append_only ON entries")
    for table in ("secrets", "questions", "entries", "voters", "studies"):
        op.drop_table(table)


def _create_tables() -> None:
    op.create_table(
        "studies",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("phase", sa.String(10), nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.create_table(
        "entries",
        sa.Column("study", sa.String(40), sa.ForeignKey("studies.id"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("by", sa.String(40)),
        sa.Column("voter", sa.String(16)),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.create_table(
        "voters",
        sa.Column("study", sa.String(40), sa.ForeignKey("studies.id"), primary_key=True),
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("name", sa.String(200)),
    )
    op.create_index("voters_by_name", "voters", ["study", "name"], unique=True)
    op.create_table(
        "links",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("study", sa.String(40), sa.ForeignKey("studies.id"), nullable=False),
        sa.Column("role", sa.String(10), nullable=False),
        sa.Column("voter", sa.String(16)),
        sa.Column("hash", sa.LargeBinary(32), nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("revoked_at", sa.Double),
    )
    op.create_index("ix_links_study", "links", ["study"])


def _append_only() -> None:
    """Let the database refuse to change the log."""
    if op.get_bind().dialect.name == "sqlite":
        refusal = "The log of a study is never changed; a correction is a new entry."
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER entries_no_{action.lower()} BEFORE {action} ON entries "
                f"BEGIN SELECT RAISE(ABORT, '{refusal}'); END"
            )
        return
    op.execute(
        "CREATE TRIGGER entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entries "
        "FOR EACH STATEMENT EXECUTE FUNCTION duelmatch_append_only()"
    )
