"""Rate limits per link and per address. Clients are remembered as keyed hashes for an hour at most.

The key is replaced every hour and never leaves the process, so nobody can tell from the memory of a server
which address has called, and after an hour nobody can tell that it is the same one. Each server process
counts for itself.
"""

from __future__ import annotations

import hashlib
import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import Literal

from fastapi.security.utils import get_authorization_scheme_param
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from duelmatch.studies import link_id_of
from duelmatch.web.config import Rate, Rates
from duelmatch.web.problems import refusal

FORGET_AFTER = 3600.0
"""Seconds."""

MOST_REMEMBERED = 50_000
TOO_OFTEN = "That is too often. Wait a moment, then try again."
UNLIMITED = ("/healthz", "/readyz", "/static/")


class Buckets:
    """A bucket for each caller: every call takes a drop, and it fills up again with time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begin_anew(clock())

    def _begin_anew(self, now: float) -> None:
        self._key, self._since = secrets.token_bytes(32), now
        self._levels: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str, rate: Rate) -> float:
        """Count a call; return 0, or how many seconds the caller should have waited."""
        now = self._clock()
        if now - self._since > FORGET_AFTER:
            self._begin_anew(now)
        name = hashlib.blake2b(caller.encode("utf-8", "replace"), key=self._key, digest_size=16).digest()
        level, before = self._levels.pop(name, (rate.burst, now))
        level = min(rate.burst, level + (now - before) * rate.per_second)
        allowed = level >= 1
        self._levels[name] = (level - allowed, now)
        if len(self._levels) > MOST_REMEMBERED:
            self._levels.popitem(last=False)
        return 0.0 if allowed else (1 - level) / rate.per_second


class RateLimit:
    """Refuses links and addresses that call too often."""

    def __init__(self, app: ASGIApp, rates: Rates, buckets: Buckets | None = None) -> None:
        self._app = app
        self._rates = rates
        self._buckets = buckets or Buckets()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or say when to come back."""
        if scope["type"] == "http" and not scope["path"].startswith(UNLIMITED):
            wait = self._wait(scope)
            if wait:
                response = refusal(429, TOO_OFTEN, {"Retry-After": str(math.ceil(wait))})
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _wait(self, scope: Scope) -> float:
        request = Request(scope)
        address = network_of(request.client.host if request.client else "")
        wait = self._buckets.wait(f"address {address}", self._rates.address)
        if wait:
            return wait
        wait = max(
            (self._buckets.wait(f"link {link}", self._rates.link) for link in links_in(request)), default=0.0
        )
        kind = kind_of(scope["path"]) if scope["method"] == "POST" else None
        if not wait and kind is not None:
            wait = self._buckets.wait(f"{kind} {address}", getattr(self._rates, kind))
        return wait


def kind_of(path: str) -> Literal["create", "read", "join"] | None:
    """Return which limit of its own an operation has."""
    if path == "/api/v1/studies" or path.endswith("/duplicate"):
        return "create"
    if path in ("/api/v1/estimate", "/api/v1/problems/read"):
        return "read"
    return "join" if path.endswith("/join") else None


def links_in(request: Request) -> set[str]:
    """Return the ids of the links that a request shows, whatever else is in its headers."""
    tokens = [value for name, value in request.cookies.items() if "duelmatch-" in name]
    scheme, token = get_authorization_scheme_param(request.headers.get("authorization"))
    if scheme.lower() == "bearer":
        tokens.append(token.strip())
    return {link for token in tokens if (link := link_id_of(token)) is not None}


def network_of(address: str) -> str:
    """Return what counts as one address: of IPv6 the first half, since a caller has all of the rest.

    >>> network_of("192.0.2.7"), network_of("2001:db8::7"), network_of("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::/64', '192.0.2.7')
    """
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if isinstance(known, IPv4Address):
        return str(known)
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(IPv6Network((int(known) >> 64 << 64, 64)))
