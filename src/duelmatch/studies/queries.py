"""What is looked up and changed in the database, written once: study s, question n, voter v, time t."""

from __future__ import annotations

import sqlalchemy as sa

from duelmatch.studies import schema
from duelmatch.studies.prepared import Prepared

_questions = schema.questions.c
_OPEN = _questions.state == sa.literal_column("'open'")  # written out, so that the index applies
_OF_STUDY = _questions.study == sa.bindparam("s")
QUESTION = sa.select(schema.questions).where(_OF_STUDY, _questions.number == sa.bindparam("n"))
OPEN_OF_VOTER = sa.select(schema.questions).where(_OF_STUDY, _questions.voter == sa.bindparam("v"), _OPEN)
EXPIRED = sa.select(schema.questions).where(_OF_STUDY, _OPEN, _questions.expires_at <= sa.bindparam("t"))
ALL_OPEN = sa.select(schema.questions).where(_OF_STUDY, _OPEN)
LAST_OF_VOTER = (
    sa.select(schema.questions)
    .where(_OF_STUDY, _questions.voter == sa.bindparam("v"), _questions.answer.is_not(None))
    .order_by(_questions.answer.desc())
    .limit(1)
)
ANSWERS_BY = (
    sa.select(sa.func.count())
    .select_from(schema.questions)
    .where(_OF_STUDY, _questions.voter == sa.bindparam("v"), _questions.answer.is_not(None))
)
VOTES = (
    sa.select(schema.questions, schema.entries.c.at)
    .join(
        schema.entries,
        sa.and_(schema.entries.c.study == _questions.study, schema.entries.c.seq == _questions.answer),
    )
    .where(_OF_STUDY, _questions.answer < sa.bindparam("before"))
    .order_by(_questions.answer.desc())
    .limit(sa.bindparam("limit"))
)
"""The answers before an entry of the log, the latest first."""
VOTES_BY = VOTES.where(_questions.voter == sa.bindparam("v"))
CHANGE = sa.update(schema.questions).where(_OF_STUDY, _questions.number == sa.bindparam("n"))
VOTER = sa.select(schema.voters).where(
    schema.voters.c.study == sa.bindparam("s"), schema.voters.c.number == sa.bindparam("v")
)
WITH_VOTER = Prepared(
    sa.select(schema.questions, schema.voters.c.blocked)
    .join(schema.voters)
    .where(_OF_STUDY, _questions.number == sa.bindparam("n"))
)
VOTER_WITH_OPEN = Prepared(
    sa.select(schema.questions, schema.voters.c.blocked)
    .select_from(schema.voters)
    .outerjoin(
        schema.questions,
        sa.and_(_questions.study == schema.voters.c.study, _questions.voter == schema.voters.c.number, _OPEN),
    )
    .where(schema.voters.c.study == sa.bindparam("s"), schema.voters.c.number == sa.bindparam("v"))
)

LAST = 2**31 - 1
"""No entry has a higher number."""

AFTER = (
    sa.select(schema.entries)
    .where(
        schema.entries.c.study == sa.bindparam("s"),
        schema.entries.c.seq > sa.bindparam("a"),
        schema.entries.c.seq <= sa.bindparam("b"),
    )
    .order_by(schema.entries.c.seq)
)
"""The entries of study s behind a, up to b."""

DROPPED = (
    sa.select(schema.entries)
    .where(schema.entries.c.study == sa.bindparam("s"), schema.entries.c.kind == "dropped")
    .order_by(schema.entries.c.seq)
)
VOTER_NAMED = sa.select(schema.voters).where(
    schema.voters.c.study == sa.bindparam("s"), schema.voters.c.name == sa.bindparam("name")
)
VOTERS = (
    sa.select(schema.voters)
    .where(schema.voters.c.study == sa.bindparam("s"))
    .order_by(schema.voters.c.number)
)
BLOCK = (
    sa.update(schema.voters)
    .where(schema.voters.c.study == sa.bindparam("s"), schema.voters.c.number == sa.bindparam("v"))
    .values(blocked=sa.bindparam("new"))
)
SECRET = Prepared(sa.select(schema.secrets).where(schema.secrets.c.id == sa.bindparam("key")))
KEYS = (
    sa.select(schema.secrets)
    .where(schema.secrets.c.study == sa.bindparam("s"))
    .order_by(schema.secrets.c.created_at, schema.secrets.c.id)
)
ORGANISERS = sa.select(schema.secrets.c.id).where(
    schema.secrets.c.study == sa.bindparam("s"),
    schema.secrets.c.role == "organiser",
    schema.secrets.c.revoked_at.is_(None),
)
WORKS = sa.select(sa.func.count()).where(
    schema.secrets.c.study == sa.bindparam("s"),
    schema.secrets.c.id == sa.bindparam("key"),
    schema.secrets.c.revoked_at.is_(None),
)
REVOKE = (
    sa.update(schema.secrets)
    .where(schema.secrets.c.study == sa.bindparam("s"), schema.secrets.c.id == sa.bindparam("key"))
    .values(revoked_at=sa.func.coalesce(schema.secrets.c.revoked_at, sa.bindparam("now", type_=sa.Double)))
)
HEAD = sa.select(schema.studies.c.head).where(schema.studies.c.id == sa.bindparam("s"))
