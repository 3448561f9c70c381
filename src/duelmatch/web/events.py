"""Live progress as server-sent events: one when it begins, and one whenever the log has grown."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from time import monotonic
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from duelmatch.studies import Study
from duelmatch.web.access import ROLES, GetAccess, GetStudy
from duelmatch.web.config import Config
from duelmatch.web.models import Progress
from duelmatch.web.problems import documented

LOOK_EVERY = 1.0
"""Seconds. Other processes write to the same log, so it is polled."""

KEEP_ALIVE_EVERY = 15
"""Looks without news until something is sent anyway, so that no proxy closes the connection."""

CHECK_EVERY = 10
"""Looks until it is asked again whether the link still works."""

MOST_WATCHED = 50
"""Studies of which the latest progress is kept."""

TOO_MANY_OF_LINK = "This link is being watched in too many places. Close some of them, then try again."
TOO_MANY = "Too many people watch studies on this server right now. Ask for the progress instead."

router = APIRouter(prefix="/studies/{study}", responses=documented(401, 404))


@router.get(
    "/events",
    tags=["voter", "organiser"],
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Events called progress"}},
)
async def events(study: GetStudy, access: GetAccess, request: Request) -> StreamingResponse:
    """Send the progress now, and whenever something has happened; until the link is revoked."""
    state, links = request.app.state, [allowed.link for allowed in access.values()]
    link = next(allowed.link for role in ROLES if (allowed := access.get(role)) is not None)
    of_study = None if "organiser" in access else study.id
    state.streams.begin(link, of_study, state.config)
    watched: WatchedStudy = state.watched(study)
    return _Stream(
        lambda: state.streams.end(link, of_study),
        _progress_of(watched, lambda: any(study.works(each) for each in links), lambda: bool(state.stopping)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store"},
    )


class StreamCount:
    """How many event streams are open: by link, and those of voters and open links by study.

    Whoever has an open link can become many voters; so what these can take of a study is less than what there
    is, and organisers are counted apart.
    """

    def __init__(self) -> None:
        self._of_link: Counter[str] = Counter()
        self._of_study: Counter[str | None] = Counter()

    def begin(self, link: str, study: str | None, config: Config) -> None:
        """Count one more, unless there are too many; ``study`` is None for an organiser."""
        if self._of_link[link] >= config.streams_per_link:
            raise HTTPException(429, TOO_MANY_OF_LINK, {"Retry-After": "60"})
        others = self._of_study.total() - self._of_study[None]
        taken = self._of_study[None] if study is None else others
        if taken >= config.streams or (study and self._of_study[study] >= config.streams / 2):
            raise HTTPException(429, TOO_MANY, {"Retry-After": "60"})
        self._of_link[link] += 1
        self._of_study[study] += 1

    def end(self, link: str, study: str | None) -> None:
        """Count one less."""
        self._of_link -= Counter([link])
        self._of_study -= Counter([study])


class _Stream(StreamingResponse):
    """Says when it has ended, however that came."""

    def __init__(self, ended: Callable[[], None], content: AsyncIterator[str], **options: Any) -> None:
        super().__init__(content, **options)
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()


class WatchedStudy:
    """Polls a study once for everybody who watches it in this process."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._lock = asyncio.Lock()
        self._latest: Progress | None = None
        self._looked = 0.0

    async def progress(self) -> Progress:
        """Return how far the study has come, at most LOOK_EVERY seconds ago."""
        async with self._lock:
            if self._latest is None or monotonic() - self._looked > 0.9 * LOOK_EVERY:
                self._latest = await run_in_threadpool(self._look)
                self._looked = monotonic()
            return self._latest

    def _look(self) -> Progress:
        estimates, _ = self._study.latest_estimates()
        estimated = None if estimates is None else estimates.entry
        latest = self._latest
        if latest is None or (latest.entries, latest.estimated) != (self._study.end(), estimated):
            latest = Progress.of_status(self._study.status(), estimates)
        return latest


async def _progress_of(
    watched: WatchedStudy, works: Callable[[], bool], stopping: Callable[[], bool] = lambda: False
) -> AsyncIterator[str]:
    seen: tuple[int, int | None] = 0, None
    quiet = looks = 0
    while not stopping():
        progress = await watched.progress()
        if (progress.entries, progress.estimated) != seen:
            seen, quiet = (progress.entries, progress.estimated), 0
            yield f"id: {progress.entries}\nevent: progress\ndata: {progress.model_dump_json()}\n\n"
        elif quiet == KEEP_ALIVE_EVERY:
            quiet = 0
            yield ": still here\n\n"
        looks += 1
        quiet += 1
        if looks % CHECK_EVERY == 0 and not await run_in_threadpool(works):
            return
        await asyncio.sleep(LOOK_EVERY)
