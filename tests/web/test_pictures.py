"""Pictures that organisers upload: only pixels are kept, and nothing that is not a picture gets in."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from PIL import Image

import duelmatch as dm
from duelmatch.errors import StudyError
from duelmatch.problem import Details
from duelmatch.studies import Settings, Store
from duelmatch.studies.pictures import KEPT_WITHOUT_STUDY
from duelmatch.web import Config
from duelmatch.web.pictures import LARGEST_PICTURE, LONGEST_SIDE, written_anew
from web.running import served


def photo(size: tuple[int, int] = (1200, 600), kind: str = "JPEG", orientation: int = 6) -> bytes:
    """Return a photo, red on the left, as a camera held upright writes it: with a place and a camera."""
    image = Image.new("RGB", size, "blue")
    image.paste("red", (0, 0, size[0] // 2, size[1]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "SECRETCAMERA"
    exif.get_ifd(0x8825)[1] = "N"
    written = io.BytesIO()
    image.save(written, kind, exif=exif)
    return written.getvalue()


def bomb() -> bytes:
    """Return a PNG of a hundred bytes that claims to have ten thousand million pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 999))


class TestWrittenAnew:
    def test_only_upright_pixels_are_left(self) -> None:
        data = photo() + b"<script>alert(1)</script>"
        written = written_anew(data)
        for secret in (b"SECRETCAMERA", b"<script>", b"EXIF", b"ICCP"):
            assert secret not in written
        with Image.open(io.BytesIO(written)) as image:
            assert (image.format, image.size) == ("WEBP", (LONGEST_SIDE // 2, LONGEST_SIDE))
            above, below = image.getpixel((200, 100)), image.getpixel((200, 700))
        assert above[0] > 200 > below[0]  # type: ignore[index]  # red was on the left, and is above now

    def test_small_and_transparent_pictures_stay_so(self) -> None:
        written = io.BytesIO()
        Image.new("RGBA", (10, 20), (0, 0, 0, 0)).save(written, "PNG")
        with Image.open(io.BytesIO(written_anew(written.getvalue()))) as image:
            assert (image.size, image.mode, image.getpixel((5, 5))[3]) == ((10, 20), "RGBA", 0)  # type: ignore[index]

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"GIF89a",
            b"<svg xmlns='http://www.w3.org/2000/svg'/>",
            photo()[:3000],
            photo(kind="TIFF"),
            b"%PDF-1.4",
        ],
        ids=["nothing", "stub", "svg", "cut", "tiff", "pdf"],
    )
    def test_what_is_no_picture_is_refused(self, data: bytes) -> None:
        with pytest.raises(StudyError, match="Choose a JPEG, PNG, WebP or GIF file"):
            written_anew(data)

    def test_a_bomb_is_refused_before_it_goes_off(self) -> None:
        with pytest.raises(StudyError, match="100,000 times 100,000 pixels"):
            written_anew(bomb())


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx2.Client, Store]]:
    file = tmp_path_factory.mktemp("pictures") / "duels.db"
    config = Config(create="key", create_key="let me", rates=None)
    with (
        Store(f"sqlite:///{file}") as store,
        served(store, config) as address,
        httpx2.Client(base_url=address, trust_env=False, timeout=120) as client,
    ):
        yield client, store


KEY = {"Authorization": "Bearer let me"}


def test_a_picture_goes_from_its_upload_to_the_voters(client: tuple[httpx2.Client, Store]) -> None:
    http, store = client
    assert http.post("/api/v1/pictures", content=photo()).status_code == 401
    sent = http.post("/api/v1/pictures", content=photo(), headers=KEY | {"Content-Type": "text/html"})
    address = sent.json()["picture"]
    shown = http.get(address)
    assert shown.headers["content-type"] == "image/webp"
    assert "immutable" in shown.headers["cache-control"]
    assert shown.headers["x-content-type-options"] == "nosniff"
    problem = {"candidates": [{"name": "ann", "picture": address}, "bob"], "positions": ["chair"]}
    made = http.post("/api/v1/studies", json={"name": "x", "problem": problem}, headers=KEY).json()
    study = store.study(made["study"])
    assert study.problem.candidate_details["ann"].picture == address
    organiser = {"Authorization": f"Bearer {made['organiser_token']}"}
    at = f"/api/v1/studies/{study.id}"
    other = http.post(f"{at}/pictures", content=photo(kind="PNG"), headers=organiser).json()["picture"]
    changed = http.post(f"{at}/edit", json={"candidates": {"bob": {"picture": other}}}, headers=organiser)
    assert changed.status_code == 204
    assert study.problem.candidate_details["bob"].picture == other
    voter = study.new_link("voter", study.add_voter("Eve"))
    refused = http.post(f"{at}/pictures", content=photo(), headers={"Authorization": f"Bearer {voter}"})
    assert refused.status_code == 403


def test_uploads_are_refused_with_a_sentence(client: tuple[httpx2.Client, Store]) -> None:
    http, _ = client
    said = http.post("/api/v1/pictures", content=bomb(), headers=KEY)
    assert (said.status_code, "pixels" in said.json()["detail"]) == (422, True)
    said = http.post("/api/v1/pictures", content=b"x" * (LARGEST_PICTURE + 1), headers=KEY)
    assert (said.status_code, "10,000,000 bytes" in said.json()["detail"]) == (413, True)
    said = http.post("/api/v1/problems/read", content=b"x" * 2_000_000, headers=KEY)
    assert (said.status_code, "1,000,000 bytes" in said.json()["detail"]) == (413, True)
    assert http.get(f"/pictures/{'0' * 64}").status_code == 404
    for picture in ("ann.jpg", "http://example.org/ann.jpg", f"/pictures/{'0' * 64}", "/static/icon.svg"):
        problem = {"candidates": [{"name": "ann", "picture": picture}, "bob"], "positions": ["chair"]}
        said = http.post("/api/v1/studies", json={"name": "x", "problem": problem}, headers=KEY)
        assert said.status_code == 422
        assert "picture" in said.json()["detail"]


def test_what_no_study_shows_is_deleted_after_a_day(tmp_path: Path) -> None:
    now = [0.0]
    with Store(f"sqlite:///{tmp_path}/duels.db", clock=lambda: now[0]) as store:
        used, unused = store.keep_picture(b"used"), store.keep_picture(b"unused")
        problem = dm.Problem(("a", "b"), ("c",), (("a", "c"), ("b", "c")), {"a": Details(picture=used)})
        study = store.create(problem, Settings("panel"), "x", ["Eve"])
        now[0] += KEPT_WITHOUT_STUDY + 1
        store.keep_picture(b"another")
        assert [store.picture(address.rpartition("/")[2]) for address in (used, unused)] == [b"used", None]
        with pytest.raises(StudyError, match="choose it again"):
            study.edit({"b": {"picture": unused}})
        assert study.status().entries == 1
