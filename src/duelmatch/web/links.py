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
    code = segno.make(text, micro=False, error="m")
    code.save(picture, kind="svg", title="The link as a QR code", omitsize=True, xmldecl=False, light="#fff")
    return picture.getvalue().decode()
