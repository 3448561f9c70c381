"""Rate limits of several servers: each tells the others once a second which callers are busy there.

That costs a message a second, through PostgreSQL, while somebody is busy, and nothing otherwise; no request
waits for it. So a caller who turns to n servers at once gets what one server gives, and before the others
know of it once more what can be taken in a second, and the quarter of a bucket that nobody is told of, from
each of them. Messages have hashes of callers under a key of the hour that only the servers' database knows.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress

from fastapi import FastAPI

from duelmatch.errors import DuelmatchError
from duelmatch.studies import Store
from duelmatch.web.config import Rate, Rates
from duelmatch.web.rates import FORGET_AFTER, Buckets

CHANNEL = "duelmatch_rates"
EVERY = 1.0
"""Seconds."""

IN_A_MESSAGE = 150
"""Callers; each takes some 40 bytes."""


class SharedRates:
    """What this server has to tell the others of its buckets, by kind, and to hear from them."""

    def __init__(self, store: Store, buckets: Mapping[str, Buckets], rates: Rates) -> None:
        self._store = store
        self._messages = store.messages(CHANNEL)
        self._buckets = buckets
        self._rates = rates
        self._key: tuple[int, bytes] | None = None

    def exchange(self) -> None:
        """Tell, and hear."""
        if self._messages is None or (key := self._key_of_hour()) is None:
            return
        told = {kind: buckets.share(key) for kind, buckets in self._buckets.items()}
        for message in self._messages.exchange(list(_written(told))):
            for kind, callers in json.loads(message).items():
                rate: Rate = getattr(self._rates, kind)
                for name, drops in callers.items():
                    self._buckets[kind].take(name, drops, rate)

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
    config, store = app.state.config, app.state.store
    if config.rates is None or store.database.is_sqlite:
        return None
    shared = SharedRates(store, app.state.buckets, config.rates)

    def work() -> None:
        while not app.state.stopping:
            with suppress(DuelmatchError):  # whoever needs the database is told
                shared.exchange()
            time.sleep(every)
        shared.close()

    thread = threading.Thread(target=work, name="duelmatch-rates", daemon=True)
    thread.start()
    return thread
