"""The first tables."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

OPEN = sa.text("state = 'open'")


def upgrade() -> None:
    """Make the tables, and let the database refuse to change the log."""
    _studies_and_voters()
    _log_and_questions()
    _secrets()
    _append_only()


def _studies_and_voters() -> None:
    op.create_table(
        "studies",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("head", sa.Integer, nullable=False),
        sa.Column("questions", sa.Integer, nullable=False),
        sa.Column("voters", sa.Integer, nullable=False),
    )
    op.create_table(
        "voters",
        sa.Column("study", sa.String(40), sa.ForeignKey("studies.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(200)),
        sa.Column("blocked", sa.Integer, nullable=False, server_default="0"),
    )
    op.create_index("voters_by_name", "voters", ["study", "name"], unique=True)


def _log_and_questions() -> None:
    op.create_table(
        "entries",
        sa.Column("study", sa.String(40), sa.ForeignKey("studies.id"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("voter", sa.Integer),
        sa.Column("question", sa.Integer),
        sa.Column("one", sa.Integer),
        sa.Column("other", sa.Integer),
        sa.Column("note", sa.Text),
    )
    op.create_table(
        "questions",
        sa.Column("study", sa.String(40), sa.ForeignKey("studies.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("voter", sa.Integer, nullable=False),
        sa.Column("left", sa.Integer, nullable=False),
        sa.Column("right", sa.Integer, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.Column("winner", sa.Integer),
        sa.Column("tie", sa.Integer, nullable=False, server_default="0"),
        sa.Column("answer", sa.Integer),
        sa.ForeignKeyConstraint(["study", "voter"], ["voters.study", "voters.number"]),
    )
    where: dict[str, Any] = {"sqlite_where": OPEN, "postgresql_where": OPEN}
    op.create_index("one_open_question_per_voter", "questions", ["study", "voter"], unique=True, **where)
    op.create_index("answers_by_voter", "questions", ["study", "voter", "answer"])
    op.create_index("leases", "questions", ["study", "expires_at"], **where)


def _secrets() -> None:
    op.create_table(
        "secrets",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("study", sa.String(40), sa.ForeignKey("studies.id"), nullable=False),
        sa.Column("role", sa.String(10), nullable=False),
        sa.Column("voter", sa.Integer),
        sa.Column("hash", sa.LargeBinary(32), nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("revoked_at", sa.Double),
        sa.ForeignKeyConstraint(["study", "voter"], ["voters.study", "voters.number"]),
    )
    op.create_index("ix_secrets_study", "secrets", ["study"])


def _append_only() -> None:
    refusal = "The log of a study is never changed; a correction is a new entry."
    if op.get_bind().dialect.name == "sqlite":
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER entries_no_{action.lower()} BEFORE {action} ON entries "
                f"BEGIN SELECT RAISE(ABORT, '{refusal}'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION duelmatch_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{refusal}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entries "
        "FOR EACH STATEMENT EXECUTE FUNCTION duelmatch_append_only()"
    )
