"""Where a request has the tokens of links: a program's in a header, a browser's in cookies.

There is a cookie for each study and role, out of reach of scripts.

``SameSite=Lax`` and not ``Strict``: whoever follows a link from a message comes from another site, and must
not be a stranger on the page that the link leads to. Nothing is changed by a GET, and what is changed by
others is guarded by :mod:`duelmatch.web.guard`.
"""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.security.utils import get_authorization_scheme_param
from starlette.datastructures import Headers

from duelmatch.studies import Role

MOST_REMEMBERED = 50
"""Tokens of a browser that are looked at on the first page."""

LASTS = 60 * 86_400
"""Seconds."""


def bearer_token(headers: Headers) -> str | None:
    """Return the token in the header ``Authorization``, if there is one."""
    scheme, token = get_authorization_scheme_param(headers.get("authorization"))
    return token.strip() if scheme.lower() == "bearer" else None


def cookie_name(request: Request, study: str, role: Role) -> str:
    """Return the name of a cookie; over HTTPS one that browsers accept from this very host only."""
    prefix = "__Host-" if request.url.scheme == "https" else ""
    return f"{prefix}duelmatch-{study}-{role}"


def remember(response: Response, request: Request, study: str, role: Role, token: str) -> None:
    """Let the browser remember a link's token."""
    response.set_cookie(
        cookie_name(request, study, role),
        token,
        max_age=LASTS,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def forget(response: Response, request: Request, study: str, role: Role) -> None:
    """Let the browser forget it."""
    name = cookie_name(request, study, role)
    secure = request.url.scheme == "https"
    response.delete_cookie(name, path="/", secure=secure, httponly=True, samesite="lax")


def remembered(request: Request, study: str, role: Role) -> str | None:
    """Return the token that the browser remembers."""
    return request.cookies.get(cookie_name(request, study, role))


def all_remembered(request: Request) -> list[str]:
    """Return the tokens of all studies that the browser remembers, up to a limit."""
    tokens = [token for name, token in request.cookies.items() if "duelmatch-" in name]
    return tokens[:MOST_REMEMBERED]
