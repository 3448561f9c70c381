"""Pictures of candidates: what people upload is checked, made small, and written anew.

Only what Pillow decodes as a JPEG, PNG, WebP or GIF is taken, whatever the file's name or type says; SVG is a
program, and refused. Writing it anew leaves nothing of the file but its pixels: no place where it was taken,
no camera, nothing hidden behind the end. All of it happens in a worker process, within its memory and time.
"""

from __future__ import annotations

import io
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Request, Response
from fastapi.concurrency import run_in_threadpool

from duelmatch.errors import StudyError
from duelmatch.studies import Store
from duelmatch.web import models
from duelmatch.web.access import GetStore, GetStudy, organiser_link, require_creator
from duelmatch.web.problems import documented
from duelmatch.web.rates import network_of
from duelmatch.web.worker import LONGEST_BEGINNING, PATIENCE, picture_worker

LARGEST_PICTURE = 10_000_000
"""Bytes of an upload: what the camera of a phone makes."""

MOST_PIXELS = 50_000_000
"""A small file can mean gigabytes of pixels, so they are counted before they are made."""

LONGEST_SIDE = 800
"""Pixels of the picture that is kept: as wide as a phone is sharp."""

FORMATS = ("JPEG", "PNG", "WEBP", "GIF")

NOT_A_PICTURE = "This is not a whole picture that can be shown. Choose a JPEG, PNG, WebP or GIF file."

router = APIRouter(tags=["organiser"], responses=documented(401, 404))
pages = APIRouter(include_in_schema=False)

UPLOAD = {
    "requestBody": {
        "required": True,
        "content": {"image/*": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("/pictures", status_code=201, dependencies=[Depends(require_creator)], openapi_extra=UPLOAD)
async def upload(store: GetStore, request: Request) -> models.Picture:
    """Upload a picture for a study that is to be created; it is deleted after a day if there is none."""
    return await _kept(store, request, network_of(request.client.host if request.client else ""))


@router.post(
    "/studies/{study}/pictures",
    status_code=201,
    dependencies=[Depends(organiser_link)],
    openapi_extra=UPLOAD,
)
async def upload_for(study: GetStudy, store: GetStore, request: Request) -> models.Picture:
    """Upload a picture for a candidate or position of this study, to be named in an edit."""
    return await _kept(store, request, study.id)


async def _kept(store: Store, request: Request, of: str) -> models.Picture:
    data = await request.body()
    return models.Picture(picture=await run_in_threadpool(_keep, store, data, of))


def _keep(store: Store, data: bytes, of: str) -> str:
    small = picture_worker.run(written_anew, data, seconds=LONGEST_BEGINNING, patience=PATIENCE, of=of)
    return store.keep_picture(small)


@pages.get("/pictures/{picture}")
def picture(store: GetStore, picture: Annotated[str, Path(pattern="^[0-9a-f]{64}$")]) -> Response:
    """Return a picture to whoever knows its address; what the address names never changes."""
    data = store.picture(picture)
    if data is None:
        raise HTTPException(404, "There is no such picture.")
    lasting = {"Cache-Control": "private, max-age=31536000, immutable"}
    return Response(data, media_type="image/webp", headers=lasting)


def written_anew(data: bytes) -> bytes:
    """Return a picture as a small WebP, upright, without anything but its pixels.

    :raises StudyError: if it is none, or has too many pixels.
    """
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = None  # counted here, with a sentence
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as opened:
            width, height = opened.size
            if width * height > MOST_PIXELS:
                raise StudyError(
                    f"The picture has {width:,} times {height:,} pixels, where {MOST_PIXELS:,} are allowed "
                    "in all. Make it smaller, and choose it again."
                )
            opened.draft("RGB", (2 * LONGEST_SIDE, 2 * LONGEST_SIDE))
            upright = ImageOps.exif_transpose(opened)
            plain = upright.convert("RGBA" if upright.has_transparency_data else "RGB")
            plain.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
            written = io.BytesIO()
            bare = Image.frombytes(plain.mode, plain.size, plain.tobytes())
            bare.save(written, "WEBP", quality=80)
            return written.getvalue()
    except (StudyError, MemoryError):
        raise
    except Exception:  # of what strangers send, decoders raise all kinds
        raise StudyError(NOT_A_PICTURE) from None
