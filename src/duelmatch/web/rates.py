"""How often somebody may call. Who it is, is remembered as a keyed hash for an hour at most.

The key is made anew every hour and never leaves the process, so nobody can tell from the memory of a server
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

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

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
        headers = Headers(scope=scope)
        address = scope["client"][0] if scope.get("client") else ""
        wait = self._buckets.wait(f"address {address}", self._rates.address)
        link = headers.get("authorization") or headers.get("cookie")
        if not wait and link:
            wait = self._buckets.wait(f"link {link}", self._rates.link)
        creates = scope["path"] == "/api/v1/studies" or scope["path"].endswith(("/duplicate", "/join"))
        if not wait and scope["method"] == "POST" and creates:
            kind = "join" if scope["path"].endswith("/join") else "create"
            rate = self._rates.address if kind == "join" else self._rates.create
            wait = self._buckets.wait(f"{kind} {address}", rate)
        return wait
