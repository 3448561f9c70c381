"""Rate limits: a bucket for every voter's and organiser's link, and one for each address of everybody else.

A hall full of voters may share one address, so whoever shows a link that is known to be real is counted by
that link alone. What strangers make up gets no bucket: only links that have opened a study have one, and they
are kept apart from the addresses, so nobody can push them out. An open link is shared by all who have it, so
it does not count as somebody.

Clients are remembered as keyed hashes for an hour at most. The key is replaced every hour and never leaves
the process, so nobody can tell from the memory of a server which address has called, and after an hour nobody
can tell that it is the same one.

Servers that share a store on PostgreSQL tell each other once a second which callers are busy. That costs a
message a second while somebody is, and nothing otherwise; no request waits for it. So a caller who turns to n
servers at once gets what one server gives, and before the others know of it once more what can be taken in a
second, and the quarter of a bucket that nobody is told of, from each of them. Messages have hashes of callers
under a key of the hour that only the servers' database knows, and that all of them use in place of their own.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import Literal

from fastapi import FastAPI
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from duelmatch.errors import DuelmatchError
from duelmatch.studies import Store
from duelmatch.web.access import tokens_in
from duelmatch.web.config import Rate, Rates
from duelmatch.web.problems import refusal

FORGET_AFTER = 3600.0
"""Seconds."""

MOST_REMEMBERED = 50_000
TOO_OFTEN = "That is too often. Wait a moment, then try again."
BUSY = 0.75
"""A caller whose bucket is no fuller than that is made known to the other servers."""

CHANNEL = "duelmatch_rates"
EVERY = 1.0
"""Seconds."""

IN_A_MESSAGE = 150
"""Callers; each takes some 40 bytes."""

UNLIMITED = ("/healthz", "/readyz", "/static/")


class Buckets:
    """A bucket for each caller: every call takes a drop, and it fills up again with time."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._begin_anew(clock())
        self._lock = threading.Lock()

    def _begin_anew(self, now: float, key: bytes | None = None) -> None:
        self._key, self._since = key or secrets.token_bytes(32), now
        self._levels: OrderedDict[bytes, tuple[float, float, int]] = OrderedDict()
        """What is in each bucket, since when, and what was taken that the other servers do not know of."""
        self._busy: set[bytes] = set()

    def wait(self, caller: str) -> float:
        """Count a call; return 0, or how many seconds the caller should have waited."""
        with self._lock:
            now = self._clock()
            if now - self._since > FORGET_AFTER:
                self._begin_anew(now)
            name = self._name(caller)
            level, untold = self._level(name, now)
            if level < 1:
                self._put(name, level, now, untold)
                return (1 - level) / self._rate.per_second
            self._put(name, level - 1, now, untold + 1)
            if level - 1 < BUSY * self._rate.burst:
                self._busy.add(name)
            return 0.0

    def _level(self, name: bytes, now: float) -> tuple[float, int]:
        """Return the level of a bucket, and what was taken that other servers do not know of."""
        rate = self._rate
        level, before, untold = self._levels.get(name, (rate.burst, now, 0))
        level += (now - before) * rate.per_second
        return (level, untold) if level < rate.burst else (rate.burst, 0)

    def _put(self, name: bytes, level: float, now: float, untold: int) -> None:
        self._levels[name] = level, now, untold
        self._levels.move_to_end(name)
        if len(self._levels) > MOST_REMEMBERED:
            self._levels.popitem(last=False)

    def share(self, key: bytes) -> dict[str, int]:
        """Return what busy callers have taken since the last time, by names that all who have the key use."""
        with self._lock:
            if key != self._key:
                self._begin_anew(self._clock(), key)
            told = {}
            for name in self._busy & self._levels.keys():
                level, since, untold = self._levels[name]
                told[name.hex()] = untold
                self._levels[name] = level, since, 0
            self._busy.clear()
            return told

    def take(self, name: str, drops: int) -> None:
        """Take out of a bucket what a caller has taken at another server."""
        with self._lock:
            now, key = self._clock(), bytes.fromhex(name)
            level, untold = self._level(key, now)
            self._put(key, max(-self._rate.burst, level - drops), now, untold)

    def note(self, caller: str) -> None:
        """Count a call by somebody who turned out to be real, if it is the first."""
        if not self.knows(caller):
            self.wait(caller)

    def knows(self, caller: str) -> bool:
        """Whether there is a bucket for a caller."""
        return self._name(caller) in self._levels

    def _name(self, caller: str) -> bytes:
        return hashlib.blake2b(caller.encode("utf-8", "replace"), key=self._key, digest_size=16).digest()


def buckets_of(rates: Rates) -> dict[str, Buckets]:
    """Return the buckets of each kind: of links that have opened a study, and of addresses."""
    return {kind.name: Buckets(getattr(rates, kind.name)) for kind in fields(rates)}


class RateLimit:
    """Refuses links and addresses that call too often."""

    def __init__(self, app: ASGIApp, buckets: Mapping[str, Buckets]) -> None:
        self._app, self._buckets = app, buckets

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
        links = self._buckets["link"]
        waits = [links.wait(token) for token in tokens_in(request) if links.knows(token)]
        wait = max(waits) if waits else self._buckets["address"].wait(address)
        kind = kind_of(scope["path"]) if scope["method"] == "POST" else None
        if not wait and kind is not None:
            wait = self._buckets[kind].wait(address)
        return wait


def kind_of(path: str) -> Literal["create", "read", "picture", "join"] | None:
    """Return which limit of its own an operation has."""
    if path == "/api/v1/studies" or path.endswith("/duplicate"):
        return "create"
    if path in ("/api/v1/estimate", "/api/v1/problems/read", "/api/v1/judges/read"):
        return "read"
    if path.endswith("/pictures"):
        return "picture"
    return "join" if path.endswith("/join") else None


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


class SharedRates:
    """What this server has to tell the others of its buckets, by kind, and to hear from them."""

    def __init__(self, store: Store, buckets: Mapping[str, Buckets]) -> None:
        self._store = store
        self._messages = store.database.messages(CHANNEL)
        self._buckets = buckets
        self._key: tuple[int, bytes] | None = None

    def exchange(self) -> None:
        """Tell, and hear."""
        if self._messages is None or (key := self._key_of_hour()) is None:
            return
        told = {kind: buckets.share(key) for kind, buckets in self._buckets.items()}
        for message in self._messages.exchange(list(_written(told))):
            for kind, callers in json.loads(message).items():
                for name, drops in callers.items():
                    self._buckets[kind].take(name, drops)

    def close(self) -> None:
        """Close the connection."""
        if self._messages is not None:
            self._messages.close()

    def _key_of_hour(self) -> bytes | None:
        hour = int(time.time() // FORGET_AFTER)
        if self._key is None or self._key[0] != hour:
            secret = self._store.shared_secret()
            if secret is None:
                return None
            self._key = hour, hashlib.blake2b(str(hour).encode(), key=secret).digest()[:32]
        return self._key[1]


def _written(told: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield it in messages that are not too long."""
    for kind, callers in told.items():
        names = list(callers)
        for begin in range(0, len(names), IN_A_MESSAGE):
            yield json.dumps({kind: {name: callers[name] for name in names[begin : begin + IN_A_MESSAGE]}})


def share_rates(app: FastAPI, every: float = EVERY) -> threading.Thread | None:
    """Share the limits of an application with the other servers of its store, until it stops.

    Return the thread that does so; None if there is nothing to share.
    """
    buckets, store = app.state.buckets, app.state.store
    if not buckets or store.database.is_sqlite:
        return None
    shared = SharedRates(store, buckets)

    def work() -> None:
        while not app.state.stopping:
            with suppress(DuelmatchError):  # whoever needs the database is told
                shared.exchange()
            time.sleep(every)
        shared.close()

    thread = threading.Thread(target=work, name="duelmatch-rates", daemon=True)
    thread.start()
    return thread
