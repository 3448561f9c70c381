"""Links as people share them: an address that is exchanged for a cookie, and its picture."""

from __future__ import annotations

import io

import segno
from fastapi import Request

PATH = "/l/"


def link_of(request: Request, token: str) -> str:
    """Return the address that a token is shared as."""
    return f"{request.url.scheme}://{request.url.netloc}{PATH}{token}"


def qr_code(text: str) -> str:
    """Return a text as a QR code, in SVG."""
    picture = io.BytesIO()
    segno.make(text, micro=False, error="m").save(
        picture, kind="svg", border=4, omitsize=True, xmldecl=False, light="#fff", dark="#000"
    )
    return picture.getvalue().decode()
