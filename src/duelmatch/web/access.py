"""Who asks: the token of a link, as ``Authorization: Bearer`` or in its cookie, and what it allows.

One browser can hold several links of one study: the organiser may vote, too. So what an operation is for
decides which of them counts.

What does not wait for the database is ``async``: FastAPI runs everything else in a thread of its own, and
going there and back takes longer than what is done there.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, HTTPException, Path, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from duelmatch.studies import Store, Study
from duelmatch.studies.keys import Access, Role
from duelmatch.web.config import Config
from duelmatch.web.cookies import remembered

_bearer = HTTPBearer(auto_error=False, description="The token of an organiser's, a voter's or an open link.")
ROLES: tuple[Role, ...] = ("organiser", "voter", "open")

StudyId = Annotated[str, Path(description="The id of the study.", pattern="^[0-9a-f]{16}$")]
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


async def the_store(request: Request) -> Store:
    """Return the store of the application."""
    store: Store = request.app.state.store
    return store


def all_access(
    study: StudyId, request: Request, store: Annotated[Store, Depends(the_store)], credentials: Credentials
) -> Mapping[str, Access]:
    """Return what the caller may do in this study; who may do nothing does not learn whether it is there."""
    if credentials:
        tokens: list[str | None] = [credentials.credentials]
    else:
        tokens = [remembered(request, study, role) for role in ROLES]
    found = [store.access(token) for token in tokens if token]
    allowed: dict[str, Access] = {
        access.role: access for access in found if access is not None and access.study == study
    }
    if not allowed:
        raise HTTPException(
            401, "A valid link for this study is needed.", headers={"WWW-Authenticate": "Bearer"}
        )
    store.study(study)  # read here, where waiting is no harm; after this it is remembered
    return allowed


AllAccess = Annotated[Mapping[str, Access], Depends(all_access)]


async def the_study(study: StudyId, access: AllAccess, store: Annotated[Store, Depends(the_store)]) -> Study:
    """Return the study that the caller has access to."""
    return store.study(study)


async def the_voter(access: AllAccess) -> int:
    """Return the number of the voter who asks."""
    if "voter" not in access or access["voter"].voter is None:
        raise HTTPException(403, "Only a voter can do this.")
    return access["voter"].voter


async def an_organiser(access: AllAccess) -> None:
    """Refuse everybody else."""
    if "organiser" not in access:
        raise HTTPException(403, "Only the organiser can do this.")


async def an_invited(access: AllAccess) -> None:
    """Refuse who has no open link."""
    if "open" not in access:
        raise HTTPException(403, "Only an open link lets people join.")


async def a_creator(request: Request, credentials: Credentials) -> None:
    """Refuse who may not begin studies on this server."""
    config: Config = request.app.state.config
    if config.create == "nobody":
        raise HTTPException(403, "Studies are begun on the command line of this server only.")
    if config.create == "key":
        given = credentials.credentials if credentials else ""
        if not config.create_key or not hmac.compare_digest(given.encode(), config.create_key.encode()):
            raise HTTPException(
                401, "The key for beginning studies is needed.", headers={"WWW-Authenticate": "Bearer"}
            )


TheStore = Annotated[Store, Depends(the_store)]
TheStudy = Annotated[Study, Depends(the_study)]
TheVoter = Annotated[int, Depends(the_voter)]
