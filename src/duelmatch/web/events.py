"""Live progress as server-sent events: one when it begins, and one whenever the log has grown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

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
def events(study: TheStudy, access: AllAccess, request: Request) -> StreamingResponse:
    """Send the progress now, and whenever something has happened; until the link is revoked."""
    state, keys = request.app.state, [allowed.key for allowed in access.values()]
    return StreamingResponse(
        _progress_of(study, keys, lambda: bool(state.stopping)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store"},
    )


async def _progress_of(
    study: Study, keys: Sequence[str], stopping: Callable[[], bool] = lambda: False
) -> AsyncIterator[str]:
    seen, quiet, looks = 0, 0, 0
    while not stopping():
        head = await run_in_threadpool(study.head)
        if head != seen:
            progress = Progress.of(await run_in_threadpool(study.status))
            seen, quiet = progress.entries, 0
            yield f"id: {seen}\nevent: progress\ndata: {progress.model_dump_json()}\n\n"
        elif quiet == BREATHE_EVERY:
            quiet = 0
            yield ": still here\n\n"
        looks += 1
        quiet += 1
        if looks % CHECK_EVERY == 0 and not await run_in_threadpool(_any_works, study, keys):
            return
        await asyncio.sleep(LOOK_EVERY)


def _any_works(study: Study, keys: Sequence[str]) -> bool:
    return any(study.works(key) for key in keys)
