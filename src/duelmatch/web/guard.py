"""What every answer carries to keep browsers safe, and which requests of browsers are refused.

Cookies go along with whatever another site makes a browser send. Browsers say where a request comes from
(``Sec-Fetch-Site``, or ``Origin``), and scripts cannot forge that; so a request that changes something has to
come from our own pages, from a program that shows a link's token itself, or from a program without cookies.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duelmatch.web.access import bearer_token
from duelmatch.web.problems import refusal

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' https:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_ENCODED = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
_NO_CACHE, _NO_STORE = (b"cache-control", b"no-cache"), (b"cache-control", b"no-store")
_HTTPS_ONLY = (b"strict-transport-security", b"max-age=31536000")
"""As they are sent: encoding them for every response would take a tenth of the time of a vote."""

SAFE = ("GET", "HEAD", "OPTIONS")
FOREIGN = "This request comes from another site, so it was refused."


class Guard:
    """Refuses what other sites make a browser send, and adds the headers that keep it safe."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message.get("headers", ())
                added = list(_ENCODED)
                if not any(name.lower() == b"cache-control" for name, _ in own):
                    added.append(_NO_CACHE if scope["path"].startswith("/static/") else _NO_STORE)
                if scope["scheme"] == "https":
                    added.append(_HTTPS_ONLY)
                message["headers"] = [*own, *added]
            await send(message)

        if scope["method"] not in SAFE and not is_our_own(Headers(scope=scope)):
            await refusal(403, FOREIGN)(scope, receive, safely)
            return
        await self._app(scope, receive, safely)


def is_our_own(headers: Headers) -> bool:
    """Whether a request that changes something comes from our pages, or not from a browser at all.

    >>> is_our_own(Headers({"sec-fetch-site": "same-origin"})), is_our_own(Headers({"cookie": "a=b"}))
    (True, False)
    """
    if bearer_token(headers):
        return True
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        return site in ("same-origin", "none")
    if origin is not None:
        try:
            host = urlsplit(origin).netloc
        except ValueError:
            return False
        return host != "" and host == headers.get("host")
    return "cookie" not in headers
