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
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from duelmatch.studies import schema
from duelmatch.studies.prepared import Prepared

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


def opens(token: str, stored: bytes | None) -> bool:
    """Whether a token's secret has this hash; takes as long if there is none."""
    same = hmac.compare_digest(_hash(token[_ID_LENGTH:]), stored or _NOBODY)
    return same and stored is not None


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", errors="replace")).digest()


_BY_ID = Prepared(sa.select(schema.links).where(schema.links.c.id == sa.bindparam("link")))


def access_in(connection: Connection, token: str) -> Access | None:
    """Return what a link's token allows, as a transaction sees it; None if it is not one, or was revoked."""
    link = id_of(token)
    if link is None:
        return None
    row = _BY_ID.one(connection, {"link": link})
    stored = None if row is None or row.revoked_at is not None else row.hash
    if not opens(token, stored) or row is None:
        return None
    return Access(row.id, row.study, row.role, row.voter)
