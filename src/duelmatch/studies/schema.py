"""The tables, as the newest migration leaves them.

``entries`` is the log and the truth: rows are added and never changed, which the database itself sees to.
``questions`` follows from the log, except for when a lease ends, and is kept so that a vote need not read
the log. ``studies`` numbers both, and its row is what a writer locks. ``voters`` holds what is known of a
person, ``secrets`` the hashes of the links; neither is part of the log, so neither is exported with it.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    text,
)

metadata = MetaData()

studies = Table(
    "studies",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("state", String(10), nullable=False),
    Column("settings", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("head", Integer, nullable=False),
    Column("questions", Integer, nullable=False),
    Column("voters", Integer, nullable=False),
)
"""``head``, ``questions`` and ``voters`` are the numbers given last; ``settings`` those of a voter's page."""

entries = Table(
    "entries",
    metadata,
    Column("study", ForeignKey("studies.id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(12), nullable=False),
    Column("at", Double, nullable=False),
    Column("voter", Integer),
    Column("question", Integer),
    Column("one", Integer),
    Column("other", Integer),
    Column("note", Text),
)
"""``one`` and ``other`` are edges: of a question as shown, left and right; of an answer, winner and loser."""

voters = Table(
    "voters",
    metadata,
    Column("study", ForeignKey("studies.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("name", String(200)),
    Column("blocked", Integer, nullable=False, server_default="0"),
    Index("voters_by_name", "study", "name", unique=True),
)

questions = Table(
    "questions",
    metadata,
    Column("study", ForeignKey("studies.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("voter", Integer, nullable=False),
    Column("left", Integer, nullable=False),
    Column("right", Integer, nullable=False),
    Column("state", String(10), nullable=False),
    Column("expires_at", Double, nullable=False),
    Column("winner", Integer),
    Column("tie", Integer, nullable=False, server_default="0"),
    Column("answer", Integer),
    ForeignKeyConstraint(["study", "voter"], ["voters.study", "voters.number"]),
    Index(
        "one_open_question_per_voter",
        "study",
        "voter",
        unique=True,
        sqlite_where=text("state = 'open'"),
        postgresql_where=text("state = 'open'"),
    ),
    Index("answers_by_voter", "study", "voter", "answer"),
    Index(
        "leases",
        "study",
        "expires_at",
        sqlite_where=text("state = 'open'"),
        postgresql_where=text("state = 'open'"),
    ),
)
"""``answer`` is the number of the log entry that has the answer, if there is one."""

secrets = Table(
    "secrets",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("study", ForeignKey("studies.id"), nullable=False, index=True),
    Column("role", String(10), nullable=False),
    Column("voter", Integer),
    Column("hash", LargeBinary(32), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("revoked_at", Double),
    ForeignKeyConstraint(["study", "voter"], ["voters.study", "voters.number"]),
)
