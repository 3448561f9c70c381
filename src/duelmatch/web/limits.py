"""Requests that are too large are refused before they fill the memory, or keep the event loop busy.

A body is read before it is known who sends it, and to read a megabyte of brackets takes a tenth of a second.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duelmatch.errors import DuelmatchError
from duelmatch.studies import Store
from duelmatch.web.access import bearer_token, check_creator, tokens_in
from duelmatch.web.pictures import LARGEST_PICTURE
from duelmatch.web.problems import reason_of, refusal
from duelmatch.web.rates import kind_of

LARGEST_BODY = 1_000_000
"""Bytes: a problem with its texts."""

DRAINED = 16
"""Drain up to this multiple of the limit before answering 413: clients read when they have sent."""

LARGEST_OF_STRANGERS = 64_000
"""Bytes of a body for which it does not matter who sends it."""

SLOWEST_BODY = 30.0
"""Seconds in which the body of a request has to be there."""

TOO_SLOW = "The request did not arrive in time."
FOR_ORGANISERS = (
    f"The request is too large: {LARGEST_OF_STRANGERS:,} bytes are allowed without an organiser's link or "
    "the key for creating studies."
)


class BodyLimit:
    """Refuses bodies above a size, whether it is announced or not, and those that take too long."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, counting its body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_trusted = scope["path"].endswith("/pictures")  # read only after it is known who sends it
        largest = LARGEST_PICTURE if is_trusted else LARGEST_BODY
        detail = f"The request is too large: {largest:,} bytes are allowed."
        end = asyncio.get_running_loop().time() + SLOWEST_BODY
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > largest:
            if int(announced) <= DRAINED * LARGEST_BODY:
                await _drain(receive, end)
            await refusal(413, detail, {"Connection": "close"})(scope, receive, send)
            return
        size, complete = 0, False

        async def counted() -> Message:
            nonlocal size, complete, is_trusted
            if complete:  # all that can follow is the end of the connection
                return await receive()
            try:
                async with asyncio.timeout_at(end):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, TOO_SLOW, {"Connection": "close"}) from None
            size += len(message.get("body", b""))
            complete = not message.get("more_body")
            if LARGEST_OF_STRANGERS < size <= largest and not is_trusted:
                is_trusted = await _may_send_much(Request(scope))
            if size > largest or (size > LARGEST_OF_STRANGERS and not is_trusted):
                if message.get("more_body"):
                    await _drain(receive, end)
                raise HTTPException(
                    413, detail if size > largest else FOR_ORGANISERS, {"Connection": "close"}
                )
            return message

        await self._app(scope, counted, send)


async def _may_send_much(request: Request) -> bool:
    """Whether the caller shows an organiser's link, or creates studies and may do so."""
    with suppress(HTTPException):
        if kind_of(request.url.path) in ("create", "read"):
            check_creator(request, bearer_token(request.headers) or "")
            return True
    store: Store = request.app.state.store
    try:
        shown = await run_in_threadpool(store.accesses, tokens_in(request))
    except DuelmatchError as error:
        raise HTTPException(*reason_of(error)) from error
    return any(access.role == "organiser" for access in shown.values())


async def _drain(receive: Receive, end: float) -> None:
    """Read the rest of a body, unless there is no end of it or it does not come in time."""
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout_at(end):
            while size <= DRAINED * LARGEST_BODY:
                message = await receive()
                size += len(message.get("body", b""))
                if not message.get("more_body"):
                    return
