"""Who is calling: the token of a link, as ``Authorization: Bearer`` or in a cookie, and what it allows.

One browser can hold several links of one study, as an organiser may vote, too. The operation decides which of
them counts.

Dependencies that do not wait for the database are ``async``: FastAPI runs all others in a worker thread, and
the way there and back takes longer than the work.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import Depends, HTTPException, Path, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from duelmatch.errors import NotThereError
from duelmatch.studies import Access, Role, Store, Study
from duelmatch.web.config import Config
from duelmatch.web.cookies import bearer_token, remembered
from duelmatch.web.languages import to_translate
from duelmatch.web.models import ID
from duelmatch.web.proxies import is_local

bearer = HTTPBearer(auto_error=False, description="The token of an organiser's, a voter's or an open link.")
ROLES: tuple[Role, ...] = ("organiser", "voter", "open")

StudyId = Annotated[str, Path(description="The id of the study.", pattern=ID)]
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]

ONLY_VOTERS = "Only a voter can do this."
ONLY_ORGANISERS = to_translate("Only the organiser can do this.")
LENT = (
    "The link that you use stops working by itself, and what you want to do would last longer. Ask an "
    "organiser whose link lasts."
)


def no_access() -> HTTPException:
    """Return the refusal of callers without a link; they do not learn whether the study exists."""
    return HTTPException(
        401, "A valid link for this study is needed.", headers={"WWW-Authenticate": "Bearer"}
    )


def access_of(request: Request, store: Store, study: str) -> dict[Role, Access]:
    """Return what the caller may do in a study, by role.

    :raises HTTPException: 401 if that is nothing.
    """
    shown = bearer_token(request.headers)
    tokens = [remembered(request, study, role) for role in ROLES] if shown is None else [shown]
    allowed: dict[Role, Access] = {}
    for token in filter(None, tokens):
        access = store.access(token)
        if access is not None and access.study == study:
            allowed[access.role] = access
            request.app.state.links.note(token, access.role)
    if not allowed:
        raise no_access()
    try:
        store.study(study)  # from here on it is in memory
    except NotThereError:
        raise no_access() from None
    return allowed


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


async def require_creator(request: Request, credentials: Credentials) -> None:
    """Refuse callers who may not create studies on this server."""
    check_creator(request, credentials.credentials if credentials else "")


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
