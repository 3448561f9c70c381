"""Links that open a study: to its organiser, to one voter, or to anybody who wants to vote.

What a link carries is an id, to find it by, and a secret of 256 random bits. Only the SHA-256 of the secret
is stored, so whoever reads the database cannot use a link; that needs no slow hash, since nobody can try
2^256 secrets. Hashes are compared in constant time, also where there is nothing to compare with.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from duelmatch.studies import schema

Role = Literal["organiser", "voter", "open"]
"""Who a link is for; with an open one, anybody may join as a new voter."""

_ID_BYTES, _SECRET_BYTES = 12, 32
_ID_LENGTH = 16
_TOKEN = re.compile(r"[A-Za-z0-9_-]{59}")
_NOBODY = bytes(32)


@dataclass(frozen=True, slots=True)
class Access:
    """What a link allows: a role in one study, as this voter if it is a voter's."""

    link: str
    study: str
    role: Role
    voter: str | None


@dataclass(frozen=True, slots=True)
class Link:
    """A link as its study knows it; the secret is not stored anywhere."""

    id: str
    role: Role
    voter: str | None
    created_at: float
    revoked: bool
    expires_at: float | None = None
    """When it stops working by itself; None for a link that does not, or was revoked."""


def new_token() -> tuple[str, str, bytes]:
    """Return a token to hand out, its id and the hash to store."""
    link = secrets.token_urlsafe(_ID_BYTES)
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    return link + secret, link, _hash(secret)


def id_of(token: str) -> str | None:
    """Return the id of a token; None for what cannot be one."""
    return token[:_ID_LENGTH] if isinstance(token, str) and _TOKEN.fullmatch(token) else None


def is_id(link: object) -> bool:
    """Whether this could be the id of a link."""
    return isinstance(link, str) and len(link) == _ID_LENGTH and _TOKEN.fullmatch(link + "A" * 43) is not None


def _opens(token: str, stored: bytes | None) -> bool:
    """Whether a token's secret has this hash; takes as long if there is none."""
    same = hmac.compare_digest(_hash(token[_ID_LENGTH:]), stored or _NOBODY)
    return same and stored is not None


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", errors="replace")).digest()


_AT_ONCE = 20
_NAMES = [f"link{number}" for number in range(_AT_ONCE)]
_columns = schema.links.c

REVOKED = 0.0
"""The time from which a revoked link does not work: past by any clock, even one that is set back."""


def works_at(now: Any) -> sa.ColumnElement[bool]:
    """Return the condition that a link works at a time. One that expires is revoked at a time to come."""
    return sa.or_(_columns.revoked_at.is_(None), _columns.revoked_at > now)


_BY_IDS = schema.Prepared(
    sa.select(_columns.id, _columns.study, _columns.role, _columns.voter, _columns.hash).where(
        _columns.id.in_([sa.bindparam(name, type_=sa.String) for name in _NAMES]),
        works_at(sa.bindparam("now", type_=sa.Double)),
    )
)


def accesses_in(connection: Connection, tokens: Iterable[str], now: float) -> dict[str, Access]:
    """Return what the tokens of links allow, as a transaction sees it; those that allow nothing are left out.

    Many are looked up at once, since other threads take over whenever the database is asked.
    """
    link_of = {token: link for token in tokens if (link := id_of(token)) is not None}
    wanted, found = list(link_of.values()), {}
    for begin in range(0, len(wanted), _AT_ONCE):
        ids = wanted[begin : begin + _AT_ONCE]
        values = dict(zip_longest(_NAMES, ids, fillvalue="")) | {"now": now}
        for rows in _BY_IDS.many(connection, values, _AT_ONCE):
            found.update({link: (Access(link, *access), digest) for link, *access, digest in rows})
    accesses = {}
    for token, link in link_of.items():
        access, stored = found.get(link, (None, None))
        if _opens(token, stored) and access is not None:
            accesses[token] = access
    return accesses


def insert_links(
    connection: Connection,
    study: str,
    role: Role,
    voters: Sequence[str | None],
    now: float,
    end: float | None = None,
) -> list[str]:
    """Make a link for each of these, and return the tokens; the links may end at a time."""
    made = [(voter, *new_token()) for voter in voters]
    common = {"study": study, "role": role, "created_at": now, "revoked_at": end}
    rows = [common | {"id": link, "voter": voter, "hash": hashed} for voter, _, link, hashed in made]
    if rows:
        connection.execute(sa.insert(schema.links), rows)
    return [token for _, token, _, _ in made]


def revoke_of(connection: Connection, study: str, voters: Sequence[str], now: float) -> dict[str, list[str]]:
    """Make the links of voters useless for ever, and return the ids of those that worked, by voter."""
    theirs = sa.and_(_columns.study == study, _columns.voter.in_(voters))
    working = sa.select(_columns.id, _columns.voter).where(theirs, works_at(now))
    query = working.order_by(_columns.created_at, _columns.id)
    found: dict[str, list[str]] = {}
    for link, voter in connection.execute(query):
        found.setdefault(voter, []).append(link)
    connection.execute(sa.update(schema.links).where(theirs).values(revoked_at=REVOKED))
    return found


def revoke_one(connection: Connection, study: str, link: str) -> bool:
    """Make a link useless for ever; return whether there is one with this id."""
    change = sa.update(schema.links).where(_columns.study == study, _columns.id == link)
    return connection.execute(change.values(revoked_at=REVOKED)).rowcount > 0


def expiry_of(connection: Connection, link: str | None) -> float | None:
    """Return when a link stops working by itself; None for one that does not, and for no link."""
    end: float | None = connection.execute(
        sa.select(_columns.revoked_at).where(_columns.id == link)
    ).scalar_one_or_none()
    return end


def outlasts(
    connection: Connection, study: str, end: float, links: Sequence[str], voters: Sequence[str] = ()
) -> bool:
    """Whether one of these links, or of those of these voters, works beyond a time."""
    these = sa.or_(_columns.id.in_(links), _columns.voter.in_(voters))
    query = sa.select(_columns.id).where(_columns.study == study, these, works_at(end))
    return connection.execute(query.limit(1)).scalar_one_or_none() is not None


def lasting_organisers(connection: Connection, study: str) -> list[str]:
    """Return the ids of the organisers' links that neither were revoked nor expire."""
    query = sa.select(_columns.id).where(
        _columns.study == study, _columns.role == "organiser", _columns.revoked_at.is_(None)
    )
    return list(connection.execute(query).scalars())


def links_in(
    connection: Connection,
    study: str,
    now: float,
    after: str | None = None,
    limit: int | None = None,
    voters: Collection[str] | None = None,
) -> list[Link]:
    """Return the links of a study in the order in which they were made; see :meth:`StudyView.links`."""
    query = sa.select(schema.links).where(_columns.study == study).order_by(_columns.created_at, _columns.id)
    if voters is not None:
        query = query.where(sa.or_(_columns.voter.is_(None), _columns.voter.in_(voters)))
    if after is not None:
        made = sa.select(_columns.created_at).where(_columns.id == after, _columns.study == study)
        query = query.where(
            sa.tuple_(_columns.created_at, _columns.id) > sa.tuple_(made.scalar_subquery(), after)
        )
    found = []
    for row in connection.execute(query.limit(limit)):
        revoked = row.revoked_at is not None and row.revoked_at <= now
        expires_at = None if revoked else row.revoked_at
        found.append(Link(row.id, row.role, row.voter, row.created_at, revoked, expires_at))
    return found
