"""Requests that are too large are refused before they fill the memory."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duelmatch.web.problems import refusal

DRAINED = 16
"""Drain up to this multiple of the limit before answering 413: clients read when they have sent."""


SLOWEST_BODY = 30.0
"""Seconds in which the body of a request has to be there."""


TOO_SLOW = "The request did not arrive in time."


class BodyLimit:
    """Refuses bodies above a size, whether it is announced or not, and those that take too long."""

    def __init__(self, app: ASGIApp, largest: int, larger: Mapping[str, int] | None = None) -> None:
        self._app = app
        self._largest = largest
        self._larger = larger or {}
        """By how paths end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, counting its body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        larger = (most for end, most in self._larger.items() if scope["path"].endswith(end))
        largest = next(larger, self._largest)
        detail = f"The request is too large: {largest:,} bytes are allowed."
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > largest:
            if int(announced) <= DRAINED * self._largest:
                await self._drain(receive)
            await refusal(413, detail, {"Connection": "close"})(scope, receive, send)
            return
        size, complete, end = 0, False, asyncio.get_running_loop().time() + SLOWEST_BODY

        async def counted() -> Message:
            nonlocal size, complete
            if complete:  # all that can follow is the end of the connection
                return await receive()
            try:
                async with asyncio.timeout_at(end):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, TOO_SLOW, {"Connection": "close"}) from None
            size += len(message.get("body", b""))
            complete = not message.get("more_body")
            if size > largest:
                if message.get("more_body"):
                    await self._drain(receive)
                raise HTTPException(413, detail, {"Connection": "close"})
            return message

        await self._app(scope, counted, send)

    async def _drain(self, receive: Receive) -> None:
        """Read the rest of a body, unless there is no end of it."""
        size = 0
        while size <= DRAINED * self._largest:
            message = await receive()
            size += len(message.get("body", b""))
            if not message.get("more_body"):
                return
