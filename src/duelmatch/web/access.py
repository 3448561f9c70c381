"""Who asks: the token of a link, as ``Authorization: Bearer``, and what it allows in the study asked for."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, HTTPException, Path, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from duelmatch.studies import Store, Study
from duelmatch.studies.keys import Access

_bearer = HTTPBearer(auto_error=False, description="The token of an organiser's, a voter's or an open link.")

StudyId = Annotated[str, Path(description="The id of the study.", pattern="^[0-9a-f]{16}$")]


def the_store(request: Request) -> Store:
    """Return the store of the application."""
    store: Store = request.app.state.store
    return store


def the_access(
    study: StudyId,
    store: Annotated[Store, Depends(the_store)],
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> Access:
    """Return what the caller may do in this study; who may do nothing does not learn whether it is there."""
    access = store.access(credentials.credentials) if credentials else None
    if access is None or access.study != study:
        raise HTTPException(
            401, "A valid link for this study is needed.", headers={"WWW-Authenticate": "Bearer"}
        )
    return access


AnyAccess = Annotated[Access, Depends(the_access)]


def the_study(access: AnyAccess, store: Annotated[Store, Depends(the_store)]) -> Study:
    """Return the study that the caller has access to."""
    return store.study(access.study)


def the_voter(access: AnyAccess) -> int:
    """Return the number of the voter who asks."""
    if access.role != "voter" or access.voter is None:
        raise HTTPException(403, "Only a voter can do this.")
    return access.voter


def an_organiser(access: AnyAccess) -> None:
    """Refuse everybody else."""
    if access.role != "organiser":
        raise HTTPException(403, "Only the organiser can do this.")


def an_invited(access: AnyAccess) -> None:
    """Refuse who has no open link."""
    if access.role != "open":
        raise HTTPException(403, "Only an open link lets people join.")


TheStore = Annotated[Store, Depends(the_store)]
TheStudy = Annotated[Study, Depends(the_study)]
TheVoter = Annotated[int, Depends(the_voter)]
