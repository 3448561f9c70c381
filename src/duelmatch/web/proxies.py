"""The client's address behind proxies: what trusted proxies say, and nothing that a client can forge.

Every proxy adds the address it was called from at the end of ``X-Forwarded-For``; what stands before that
may be invented. So the list is read from its end, past the trusted proxies, to the first address that is not
one of them. If everybody is trusted (``*``), the nearest proxy alone is believed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from duelmatch.errors import StoreError

FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
"""What only proxies have a reason to send."""


EVERYBODY = "*"
LOOPBACK = ("127.0.0.1", "::1", "localhost")

_OWN_HOST = re.compile(r"(127\.0\.0\.1|\[::1\]|localhost)(:[0-9]{1,5})?", re.IGNORECASE)
"""A Host header with one of these names."""


def is_local(request: Request) -> bool:
    """Whether the client connects from this host, by one of its own names, and not through a proxy.

    A proxy does so for anybody; and a page of another site whose name leads here has that name as the host.
    The header itself is read, as the URL of a request has the server's own address if it makes no sense.
    """
    if any(name in request.headers for name in FORWARDED):
        return False
    hosts = request.headers.getlist("host")
    by_own_name = len(hosts) == 1 and _OWN_HOST.fullmatch(hosts[0]) is not None
    return by_own_name and request.client is not None and request.client.host in LOOPBACK


def networks(believed: str) -> list[IPv4Network | IPv6Network]:
    """Return the networks that a list of addresses and networks names; none for ``*``, which is everybody.

    :raises StoreError: for anything else.
    """
    listed = [part.strip() for part in believed.split(",") if part.strip()]
    try:
        return [] if listed == [EVERYBODY] else [ip_network(part, strict=False) for part in listed]
    except ValueError as error:
        raise StoreError(f"Proxies are addresses or networks, such as 172.16.0.0/12: {error}.") from None


class Proxies:
    """Puts the caller's address and scheme in place of the proxy's."""

    def __init__(self, app: ASGIApp, believed: str) -> None:
        self._app = app
        self._all = believed.strip() == EVERYBODY
        self._networks = networks(believed)
        self._believes = lru_cache(1_000)(self._is_believed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, as from who called the proxy."""
        peer = scope.get("client")
        if scope["type"] == "http" and peer is not None and (self._all or self._believes(peer[0])):
            said = [(name, value) for name, value in scope["headers"] if name.startswith(b"x-forwarded-")]
            if said:
                scope = self._as_from_caller(scope, Headers(raw=said))
        await self._app(scope, receive, send)

    def _as_from_caller(self, scope: Scope, headers: Headers) -> Scope:
        """Return a request as it came to the proxy."""
        hops = [hop.strip() for line in headers.getlist("x-forwarded-for") for hop in line.split(",")]
        caller = self._caller([hop for hop in hops if hop])
        scope = dict(scope)
        if caller is not None:
            scope["client"] = (caller, 0)
        if headers.get("x-forwarded-proto") in ("http", "https"):
            scope["scheme"] = headers["x-forwarded-proto"]
        return scope

    def _caller(self, hops: list[str]) -> str | None:
        """Return the last address that no believed proxy has; the first if all of them are such."""
        addresses = [_without_port(hop) for hop in hops]
        if self._all:
            return addresses[-1] if addresses else None
        strangers = [address for address in addresses if not self._believes(address)]
        return next(iter(strangers[-1:] or addresses[:1]), None)

    def _is_believed(self, address: str) -> bool:
        try:
            known = ip_address(address)
        except ValueError:
            return False
        plain = getattr(known, "ipv4_mapped", None) or known
        return any(plain in network for network in self._networks)


def _without_port(hop: str) -> str:
    """Return the address of a hop.

    >>> [_without_port(hop) for hop in ("192.0.2.7:80", "[2001:db8::7]:80", "2001:db8::7", "[")]
    ['192.0.2.7', '2001:db8::7', '2001:db8::7', '[']
    """
    if hop.startswith("[") and "]" in hop:
        return hop[1 : hop.index("]")]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop
