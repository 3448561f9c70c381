"""Who is calling: the token of a link, as ``Authorization: Bearer`` or in a cookie, and what it allows.

There is a cookie for each study and role, out of reach of scripts: one browser can hold several links of one
study, as an organiser may vote, too. The operation decides which of them counts.

``SameSite=Lax`` and not ``Strict``: whoever follows a link from a message comes from another site, and must
not be a stranger on the page that the link leads to. Nothing is changed by a GET, and what is changed by
others is guarded by :mod:`duelmatch.web.guard`.

Dependencies that do not wait for the database are ``async``: FastAPI runs all others in a worker thread, and
the way there and back takes longer than the work.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import Depends, HTTPException, Path, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.security.utils import get_authorization_scheme_param
from starlette.datastructures import Headers

from duelmatch.studies import Access, Role, Store, Study, link_id_of
from duelmatch.web.config import Config
from duelmatch.web.languages import to_translate
from duelmatch.web.models import ID
from duelmatch.web.proxies import is_local

ROLES: tuple[Role, ...] = ("organiser", "voter", "open")

StudyId = Annotated[str, Path(description="The id of the study.", pattern=ID)]
_bearer = HTTPBearer(auto_error=False, description="The token of an organiser's, a voter's or an open link.")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
"""What :func:`bearer_token` reads, in the OpenAPI description."""

MOST_REMEMBERED = 50
"""Tokens of a browser that are looked at on the first page."""

LASTS = 60 * 86_400
"""Seconds."""

ONLY_VOTERS = "Only a voter can do this."
ONLY_ORGANISERS = to_translate("Only the organiser can do this.")
LENT = (
    "The link that you use stops working by itself, and what you want to do would last longer. Ask an "
    "organiser whose link lasts."
)


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
    name, secure = cookie_name(request, study, role), request.url.scheme == "https"
    response.set_cookie(name, token, LASTS, secure=secure, httponly=True, samesite="lax")


def forget(response: Response, request: Request, study: str, role: Role) -> None:
    """Let the browser forget it."""
    name, secure = cookie_name(request, study, role), request.url.scheme == "https"
    response.delete_cookie(name, secure=secure, httponly=True, samesite="lax")


def remembered(request: Request, study: str, role: Role) -> str | None:
    """Return the token that the browser remembers."""
    return request.cookies.get(cookie_name(request, study, role))


def all_remembered(request: Request) -> list[str]:
    """Return the tokens of all studies that the browser remembers, up to a limit."""
    tokens = [token for name, token in request.cookies.items() if "duelmatch-" in name]
    return tokens[:MOST_REMEMBERED]


def tokens_in(request: Request) -> set[str]:
    """Return what a request shows that could be tokens, up to a limit, whatever else is in its headers."""
    shown = bearer_token(request.headers) or ""
    return {token for token in (shown, *all_remembered(request)) if link_id_of(token) is not None}


def access_of(request: Request, store: Store, study: str) -> dict[Role, Access]:
    """Return what the caller may do in a study, by role.

    :raises HTTPException: 401 if that is nothing; they do not learn whether the study exists.
    """
    shown = bearer_token(request.headers)
    tokens = [remembered(request, study, role) for role in ROLES] if shown is None else [shown]
    allowed: dict[Role, Access] = {}
    for token in filter(None, tokens):
        access = store.access(token)
        if access is not None and access.study == study:
            allowed[access.role] = access
            note_link(request, token, access.role)
    if not allowed:
        raise HTTPException(401, "A valid link for this study is needed.", {"WWW-Authenticate": "Bearer"})
    store.study(study)  # from here on it is in memory
    return allowed


def note_link(request: Request, token: str, role: Role) -> None:
    """Let a link that turned out to be real have a rate limit of its own; many may share an open one."""
    if (buckets := request.app.state.buckets) and role != "open":
        buckets["link"].note(token)


async def get_store(request: Request) -> Store:
    """Return the store of the application."""
    store: Store = request.app.state.store
    return store


GetStore = Annotated[Store, Depends(get_store)]


def get_access(
    study: StudyId, request: Request, store: GetStore, _documented: Credentials
) -> Mapping[Role, Access]:
    """Return what the caller may do in this study."""
    return access_of(request, store, study)


GetAccess = Annotated[Mapping[Role, Access], Depends(get_access)]


async def get_study(study: StudyId, access: GetAccess, store: GetStore) -> Study:
    """Return the study that the caller has access to."""
    return store.study(study)


GetStudy = Annotated[Study, Depends(get_study)]


async def calling_voter(access: GetAccess) -> str:
    """Return the id of the voter who is calling."""
    if "voter" not in access or access["voter"].voter is None:
        raise HTTPException(403, ONLY_VOTERS)
    return access["voter"].voter


async def organiser_link(access: GetAccess) -> str:
    """Return the id of the organiser's link, which the log names; refuse all others."""
    if "organiser" not in access:
        raise HTTPException(403, ONLY_ORGANISERS)
    return access["organiser"].link


OrganiserLink = Annotated[str, Depends(organiser_link)]


def lasting_link(study: GetStudy, by: OrganiserLink) -> str:
    """Return the organiser's link; refuse one that stops working by itself, where what it does would last."""
    if study.expiry_of(by) is not None:
        raise HTTPException(403, LENT)
    return by


async def require_open_link(access: GetAccess) -> None:
    """Refuse callers without an open link."""
    if "open" not in access:
        raise HTTPException(403, "Only an open link lets people join.")


def who_creates(request: Request) -> Literal["anybody", "key", "nobody"]:
    """Return who may create studies, of those who come the way that this caller does."""
    config: Config = request.app.state.config
    if config.create != "local":
        return config.create
    return "anybody" if is_local(request) else "key" if config.create_key else "nobody"


async def require_creator(request: Request, _documented: Credentials) -> None:
    """Refuse callers who may not create studies on this server."""
    check_creator(request, bearer_token(request.headers) or "")


def check_creator(request: Request, given: str) -> None:
    """Refuse callers who may not create studies on this server, with this key or none."""
    config: Config = request.app.state.config
    who = who_creates(request)
    if who == "nobody":
        raise HTTPException(403, "Studies are created on the machine of this server only.")
    key = config.create_key
    if who == "key" and not (key and hmac.compare_digest(given.encode(), key.encode())):
        wrong = "That key is not right." if given else "The key for creating studies is needed."
        raise HTTPException(401, wrong, headers={"WWW-Authenticate": "Bearer"})


CallingVoter = Annotated[str, Depends(calling_voter)]
LastingLink = Annotated[str, Depends(lasting_link)]
