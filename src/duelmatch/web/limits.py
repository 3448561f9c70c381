"""Requests that are too large are refused before they fill the memory."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duelmatch.web.problems import refusal

DRAINED = 16
"""Drain up to this multiple of the limit before answering 413: clients read when they have sent."""


class BodyLimit:
    """Refuses bodies above a size, whether it is announced or not."""

    def __init__(self, app: ASGIApp, largest: int) -> None:
        self._app = app
        self._largest = largest
        self._detail = f"The request is too large: {largest:,} bytes are allowed."

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, counting its body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > self._largest:
            if int(announced) <= DRAINED * self._largest:
                await self._drain(receive)
            await refusal(413, self._detail, {"Connection": "close"})(scope, receive, send)
            return
        size = 0

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._largest:
                if message.get("more_body"):
                    await self._drain(receive)
                raise HTTPException(413, self._detail, {"Connection": "close"})
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
