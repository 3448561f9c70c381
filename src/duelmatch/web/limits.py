"""Requests that are too large are refused before they fill the memory, or keep the event loop busy.

A body is read before it is known who sends it, and to read a megabyte of brackets takes a tenth of a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duelmatch.web.problems import refusal

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
    """Refuses bodies above a size, whether it is announced or not, and those that take too long.

    ``trusts``: whether whoever sends a request may send more than strangers. ``larger``: limits of what is
    read only after it is known who sends it, by how paths end.
    """

    def __init__(
        self,
        app: ASGIApp,
        largest: int,
        trusts: Callable[[Request], Awaitable[bool]],
        larger: Mapping[str, int] | None = None,
    ) -> None:
        self._app = app
        self._largest = largest
        self._trusts = trusts
        self._larger = larger or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, counting its body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        larger = next((most for end, most in self._larger.items() if scope["path"].endswith(end)), None)
        largest, is_trusted = larger or self._largest, larger is not None
        detail = f"The request is too large: {largest:,} bytes are allowed."
        end = asyncio.get_running_loop().time() + SLOWEST_BODY
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > largest:
            if int(announced) <= DRAINED * self._largest:
                await self._drain(receive, end)
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
                is_trusted = await self._trusts(Request(scope))
            if size > largest or (size > LARGEST_OF_STRANGERS and not is_trusted):
                if message.get("more_body"):
                    await self._drain(receive, end)
                raise HTTPException(
                    413, detail if size > largest else FOR_ORGANISERS, {"Connection": "close"}
                )
            return message

        await self._app(scope, counted, send)

    async def _drain(self, receive: Receive, end: float) -> None:
        """Read the rest of a body, unless there is no end of it or it does not come in time."""
        size = 0
        with suppress(TimeoutError):
            async with asyncio.timeout_at(end):
                while size <= DRAINED * self._largest:
                    message = await receive()
                    size += len(message.get("body", b""))
                    if not message.get("more_body"):
                        return
