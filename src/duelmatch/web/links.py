"""Links as people share them: an address that is exchanged for a cookie, and its picture."""

from __future__ import annotations

import io
import socket
from ipaddress import ip_address
from urllib.parse import urlsplit

import segno
from fastapi import Request

from duelmatch.web.config import Config

PATH = "/l/"
HERE = ("localhost", "localhost.localdomain")


def address_of(request: Request) -> str:
    """Return what the links of voters begin with: an address by which their phones find this server.

    That is the configured one, or else the one by which the organiser came; if only this machine knows that,
    its address in the network around it, where the server listens to that.
    """
    config: Config = request.app.state.config
    own = f"{request.url.scheme}://{request.url.netloc}"
    return config.address or (config.nearby if config.nearby and is_of_this_machine(own) else own)


def is_of_this_machine(address: str) -> bool:
    """Whether only this machine finds a server at an address.

    >>> [is_of_this_machine(f"http://{host}:8000") for host in ("127.0.0.1", "[::1]", "0.0.0.0", "192.0.2.7")]
    [True, True, True, False]
    """
    host = urlsplit(address).hostname or ""
    try:
        known = ip_address(host)
    except ValueError:
        return host.rstrip(".") in HERE or host.endswith(".localhost")
    return known.is_loopback or known.is_unspecified


def network_address() -> str | None:
    """Return the address of this machine in the network around it; None if it is in none.

    Nothing is sent: a connected socket for datagrams only asks which way it would go.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(("192.0.2.1", 9))  # reserved for examples, so it is the way to everywhere else
            address = str(way.getsockname()[0])
        except OSError:
            return None
    return None if is_of_this_machine(f"http://{address}") else address


def link_of(request: Request, token: str) -> str:
    """Return the address that a token is shared as."""
    return f"{address_of(request)}{PATH}{token}"


def qr_code(text: str) -> str:
    """Return a text as a QR code, in SVG."""
    picture = io.BytesIO()
    code = segno.make(text, micro=False, error="m")
    code.save(picture, kind="svg", title="The link as a QR code", omitsize=True, xmldecl=False, light="#fff")
    return picture.getvalue().decode()
