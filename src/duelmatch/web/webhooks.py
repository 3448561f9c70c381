"""Telling a program what a study has decided: signed, tried again, and never in the way of a vote.

A thread looks every second at the logs of studies with a webhook, and tells what is new there, each event by
a POST of JSON with the headers of Standard Webhooks (https://www.standardwebhooks.com): ``webhook-id``,
``webhook-timestamp`` and ``webhook-signature``, an HMAC-SHA256. Votes know nothing of it.

Whoever may create studies could make the server call addresses that only it can reach. So the name is looked
up here, and the connection goes to an address that was looked at: one of the public internet, unless the
server is configured otherwise. Redirects are not followed, and what comes back is not shown to anybody.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from duelmatch.errors import DuelmatchError, NotAllowedError, StudyError
from duelmatch.studies import News, Status, Store, Webhook, news
from duelmatch.version import __version__
from duelmatch.web.config import Config

LOOK_EVERY = 1.0
"""Seconds."""

TIMEOUT, LONGEST = 5.0, 10.0
"""Seconds for the next sign of life, and for all of a delivery."""

DELAYS = (5.0, 30.0, 120.0, 600.0, 3600.0)
"""Seconds until the next try. After the last, an event is given up, and the next is tried."""

AT_ONCE = 4
"""Deliveries."""

ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[!-~]*)?(\?[!-~]*)?")
"""Visible characters alone, and past the host those of ASCII: others cannot be sent."""

NAT64 = ip_network("64:ff9b::/96")

NOT_FOR_ALL = [ip_network(each) for each in ("::/96", "64:ff9b:1::/48", "fec0::/10")]
"""IPv4 addresses as they were written once (RFC 4291, 2.5.5.1), NAT64 within a network (RFC 8215), and the
addresses of a site (RFC 3879), which Python takes for public ones."""

NOT_PUBLIC = "is not an address of the public internet, and this server calls no others"
log = logging.getLogger("duelmatch.web")


def checked_url(url: str, config: Config) -> str:
    """Return the address of a webhook, if it is one that may be called.

    :raises NotAllowedError: if this server calls nobody, or not this address.
    :raises StudyError: if it is none.
    """
    if config.webhooks == "nowhere":
        raise NotAllowedError("This server calls no webhooks.")
    host = None
    with suppress(ValueError):  # a port that is none
        parts = urlsplit(url)
        is_address = ADDRESS.fullmatch(url) and url.isprintable() and "#" not in url
        host = parts.hostname if is_address and parts.port != 0 else None
    if not host:
        raise StudyError("A webhook is an address such as https://example.org/decided, without a password.")
    if config.webhooks == "public" and _is_number(host) and not is_public(host):
        raise NotAllowedError(f"{host} {NOT_PUBLIC}.")
    return url


def _is_number(host: str) -> bool:
    """Whether a host is an address already; a name is looked up when it is called."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def is_public(address: str) -> bool:
    """Whether an address is one of the public internet, whatever it is wrapped in.

    >>> [is_public(each) for each in ("93.184.215.14", "10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1")]
    [True, False, False, False]
    >>> [is_public(each) for each in ("fec0::1", "64:ff9b:1::7f00:1", "::127.0.0.1", "2606:4700::1111")]
    [False, False, False, True]
    """
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is None and found in NAT64:
            inner = ip_address(int(found) & 0xFFFF_FFFF)  # type: ignore[assignment]
        if inner is not None:
            return is_public(str(inner))
        if any(found in network for network in NOT_FOR_ALL):
            return False
    return found.is_global and not found.is_multicast


class Teller:
    """Tells what is decided, in threads of its own, until ``stopping`` says so."""

    def __init__(self, store: Store, config: Config, stopping: Callable[[], bool]) -> None:
        self._store, self._stopping = store, stopping
        self._allowed = config.webhooks != "nowhere"
        self._only_public = config.webhooks == "public"
        self._seen: dict[str, int] = {}
        """Up to which entry all is told, by the secret of the webhook."""
        self._busy: set[str] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, unless this has begun, or the server calls nobody."""
        with self._lock:
            if self._thread is None and self._allowed:
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()

    def _work(self) -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            while not self._stopping():
                with suppress(DuelmatchError):  # the database cannot be reached now
                    for webhook in self._store.webhooks.due():
                        is_new = self._seen.get(webhook.secret) != webhook.entries
                        if is_new and webhook.secret not in self._busy:
                            self._busy.add(webhook.secret)
                            pool.submit(self._tell, webhook)
                time.sleep(LOOK_EVERY)

    def _tell(self, webhook: Webhook) -> None:
        """Tell all that is new in a study, one event after the other, until one cannot be told."""
        webhooks = self._store.webhooks
        try:
            status = self._store.study(webhook.study).status()
            while (event := news(webhook.known, status)) is not None:
                if self._stopping() or not webhooks.claim(webhook):
                    return
                failure = deliver(webhook.url, *message(webhook, event, status), self._only_public)
                if failure is not None and webhook.failures < len(DELAYS):
                    webhooks.note_failure(webhook, failure, DELAYS[webhook.failures])
                    return
                webhook = webhooks.note_told(webhook, event.known, failure)
            self._seen[webhook.secret] = status.entries
        except DuelmatchError:  # the database cannot be reached now
            pass
        except Exception as error:
            log.exception("no webhook")
            self._seen[webhook.secret] = webhook.entries  # until something happens there
            with suppress(DuelmatchError):
                webhooks.note_failure(webhook, f"The server could not call it: {type(error).__name__}.", 0.0)
        finally:
            self._busy.discard(webhook.secret)


def message(webhook: Webhook, event: News, status: Status) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of an event; told twice, it has the same id."""
    about = {"event": event.event, "number": event.known["events"], "study": status.id, "name": status.name}
    body = json.dumps({**about, **event.about, "entries": status.entries, "hash": status.hash}).encode()
    number, at = event.known["events"], str(int(time.time()))
    identity = hashlib.sha256(f"{webhook.secret} {number}".encode()).hexdigest()[:32]
    headers = {"Content-Type": "application/json", "User-Agent": f"duelmatch/{__version__}"}
    headers |= {"webhook-id": identity, "webhook-timestamp": at}
    return headers | {"webhook-signature": signature(webhook.secret, identity, at, body)}, body


def signature(secret: str, identity: str, at: str, body: bytes) -> str:
    """Sign what is sent, as Standard Webhooks does."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = hmac.digest(key, f"{identity}.{at}.".encode() + body, "sha256")
    return f"v1,{base64.b64encode(signed).decode()}"


def deliver(url: str, headers: dict[str, str], body: bytes, only_public: bool) -> str | None:
    """Send an event; return what went wrong, if anything did."""
    try:
        status = _status(url, headers, body, only_public)
    except (OSError, HTTPException, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return f"{said:.200}" or type(error).__name__
    return None if 200 <= status < 300 else f"It answered with status {status}."


def _status(url: str, headers: dict[str, str], body: bytes, only_public: bool) -> int:
    """Send an event; return the status of the response."""
    parts = urlsplit(url)
    is_secure, host = parts.scheme == "https", parts.hostname or ""
    connection = (HTTPSConnection if is_secure else HTTPConnection)(host, parts.port, timeout=TIMEOUT)
    with closing(connection), _connected(host, connection.port, only_public) as connected:
        connection.sock = _secured(connected, host) if is_secure else connected
        path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        connection.request("POST", path, body, headers)
        return connection.getresponse().status


@contextmanager
def _connected(host: str, port: int, only_public: bool) -> Iterator[socket.socket]:
    """Connect to an address of a host, once it is checked, for LONGEST seconds at most."""
    address = str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])
    if only_public and not is_public(address):
        raise OSError(f"{address} {NOT_PUBLIC}.")
    with socket.create_connection((address, port), TIMEOUT) as connected, connected.dup() as twin:
        hang_up = threading.Timer(LONGEST, _shut_down, [twin])  # whatever wraps the socket by then
        hang_up.start()
        try:
            yield connected
        finally:
            hang_up.cancel()
            hang_up.join()


def _shut_down(twin: socket.socket) -> None:
    with suppress(OSError):
        twin.shutdown(socket.SHUT_RDWR)


def _secured(connected: socket.socket, host: str) -> ssl.SSLSocket:
    connected.getpeername()  # fails if the other side has gone: to secure that would leave a socket open
    return ssl.create_default_context().wrap_socket(connected, server_hostname=host)
