"""Live progress as server-sent events: one when it begins, and one whenever the log has grown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from time import monotonic

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from duelmatch.studies import Study
from duelmatch.web.access import AllAccess, TheStudy
from duelmatch.web.models import Progress
from duelmatch.web.problems import documented

LOOK_EVERY = 1.0
"""Seconds. Other processes write to the same log, so it is looked at, not listened to."""

BREATHE_EVERY = 15
"""Looks without news until something is sent anyway, so that nobody takes the connection for dead."""

CHECK_EVERY = 10
"""Looks until it is asked again whether the link still works."""

router = APIRouter(prefix="/api/v1/studies/{study}", responses=documented(401, 403, 404, 422, 429, 503))


@router.get(
    "/events",
    tags=["voter", "organiser"],
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Events called progress"}},
)
async def events(study: TheStudy, access: AllAccess, request: Request) -> StreamingResponse:
    """Send the progress now, and whenever something has happened; until the link is revoked."""
    state, keys = request.app.state, [allowed.key for allowed in access.values()]
    feed = state.feeds.of(study)
    return StreamingResponse(
        _progress_of(feed, lambda: any(study.works(key) for key in keys), lambda: bool(state.stopping)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store"},
    )


class Feed:
    """Looks at a study for all who watch it in this process, however many they are."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._lock = asyncio.Lock()
        self._latest: Progress | None = None
        self._looked = 0.0

    async def progress(self) -> Progress:
        """Return how far the study has come, as somebody saw it just now."""
        async with self._lock:
            if self._latest is None or monotonic() - self._looked > 0.9 * LOOK_EVERY:
                head = await run_in_threadpool(self._study.head)
                if self._latest is None or head != self._latest.entries:
                    self._latest = Progress.of(await run_in_threadpool(self._study.status))
                self._looked = monotonic()
            return self._latest


async def _progress_of(
    feed: Feed, works: Callable[[], bool], stopping: Callable[[], bool] = lambda: False
) -> AsyncIterator[str]:
    seen, quiet, looks = 0, 0, 0
    while not stopping():
        progress = await feed.progress()
        if progress.entries != seen:
            seen, quiet = progress.entries, 0
            yield f"id: {seen}\nevent: progress\ndata: {progress.model_dump_json()}\n\n"
        elif quiet == BREATHE_EVERY:
            quiet = 0
            yield ": still here\n\n"
        looks += 1
        quiet += 1
        if looks % CHECK_EVERY == 0 and not await run_in_threadpool(works):
            return
        await asyncio.sleep(LOOK_EVERY)
