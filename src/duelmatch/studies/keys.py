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

Role = Literal["organiser", "voter", "open"]
"""Who a link is for; with an open one, anybody may join as a new voter."""

_ID_BYTES, _SECRET_BYTES = 12, 32
_ID_LENGTH = 16
_TOKEN = re.compile(r"[A-Za-z0-9_-]{59}")
_NOBODY = bytes(32)


@dataclass(frozen=True, slots=True)
class Access:
    """What a link allows: a role in one study, as this voter if it is a voter's."""

    key: str
    study: str
    role: Role
    voter: int | None


@dataclass(frozen=True, slots=True)
class Key:
    """A link as its study knows it; the secret is not stored anywhere."""

    id: str
    role: Role
    voter: int | None
    created_at: float
    revoked: bool


def new_token() -> tuple[str, str, bytes]:
    """Return a token to hand out, its id and the hash to store."""
    key = secrets.token_urlsafe(_ID_BYTES)
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    return key + secret, key, _hash(secret)


def id_of(token: str) -> str | None:
    """Return the id of a token; None for what cannot be one."""
    return token[:_ID_LENGTH] if isinstance(token, str) and _TOKEN.fullmatch(token) else None


def is_id(key: object) -> bool:
    """Whether this could be the id of a link."""
    return isinstance(key, str) and len(key) == _ID_LENGTH and _TOKEN.fullmatch(key + "A" * 43) is not None


def opens(token: str, stored: bytes | None) -> bool:
    """Whether a token's secret has this hash; takes as long if there is none."""
    same = hmac.compare_digest(_hash(token[_ID_LENGTH:]), stored or _NOBODY)
    return same and stored is not None


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", errors="replace")).digest()
